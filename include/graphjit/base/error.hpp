// Errors as values: what went wrong, in which op, through which slot.
#pragma once

#include <graphjit/base/config.hpp>
#include <graphjit/base/ids.hpp>
#include <graphjit/base/span.hpp>

#include <cstddef>
#include <cstdint>

namespace graphjit::inline v0 {

enum class ErrorCode : std::uint8_t {
    ok,
    out_of_memory,
    invalid_argument,  // a call that makes no sense whatever the state: a negative count, a view outside its buffer
    foreign_handle,    // a slot, buffer or variable of another recording
    unbound,           // a slot the graph needs has never been set
    null_pointer,
    too_small,
    misaligned,
    wrong_device,
    out_of_range,  // a Variable or an Expr outside what was recorded
    overflow,      // an Expr left 64 bits
    division_by_zero,
    dims_limit,  // launch dims beyond the backend's limit, or an empty group
    overlap,     // memory now shared by ops that the graph does not order
    unsupported,
    device_lost,      // the devices are gone, or can run nothing any more
    backend_failure,  // the vendor's call failed: see native and native_name
};

/// A name cut to what fits: errors outlive the recording they tell of.
class ShortName {
public:
    ShortName() noexcept { text_[0] = 0; }
    explicit ShortName(Span<const char> text) noexcept {
        std::size_t i = 0;
        for (; i + 1 < sizeof text_ && i < text.size(); ++i) text_[i] = static_cast<unsigned char>(text[i]);
        text_[i] = 0;
    }
    [[nodiscard]] const char* c_str() const noexcept { return reinterpret_cast<const char*>(text_); }
    [[nodiscard]] bool empty() const noexcept { return text_[0] == 0; }

private:
    unsigned char text_[40];  // unsigned, since copying unset plain chars would be undefined
};

/// One printable line; owns its text.
class ErrorText {
public:
    [[nodiscard]] const char* c_str() const noexcept { return text_; }

    ErrorText& add(const char* text) noexcept {
        for (; text != nullptr && *text != 0 && size_ + 1 < sizeof text_; ++text) text_[size_++] = *text;
        text_[size_] = 0;
        return *this;
    }
    ErrorText& add(std::int64_t value) noexcept {
        char digits[24] = {};
        std::size_t first = sizeof digits - 1;
        std::uint64_t rest = value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
        do {
            digits[--first] = static_cast<char>('0' + rest % 10);
            rest /= 10;
        } while (rest != 0);
        if (value < 0) digits[--first] = '-';
        return add(digits + first);
    }

private:
    char text_[480] = {};
    std::size_t size_ = 0;
};

/// What went wrong. Plain data: texts have static storage, names are copies.
struct Error {
    ErrorCode code = ErrorCode::ok;
    bool has_value = false;            // whether `value` and `limit` say something
    OpIndex op = OpIndex::none;        // the op at fault, if one is
    SlotIndex slot = SlotIndex::none;  // the slot at fault, if one is
    const char* text = "";             // one sentence
    std::int64_t value = 0;            // what was given
    std::int64_t limit = 0;            // what was needed, or the bound that was passed
    const char* value_is = "given";    // what the two numbers are
    const char* limit_is = "limit";
    std::int64_t native = 0;            // the vendor's own code
    const char* native_name = nullptr;  // and its name
    OpIndex other_op = OpIndex::none;   // a second op, for instance one that is not ordered against the first
    ShortName op_name = {};
    ShortName slot_name = {};
    ShortName other_op_name = {};
    ShortName other_memory = {};

    /// For instance: `graphjit: a Variable is outside its range: op 1 'delay', slot 'pos': given 500, limit 374`.
    [[nodiscard]] GRAPHJIT_COLD ErrorText message() const noexcept {
        ErrorText line;
        line.add("graphjit: ").add(code == ErrorCode::ok ? "ok" : text);
        const char* separator = ": ";
        if (op != OpIndex::none) {
            line.add(separator).add("op ").add(std::int64_t{to_integer(op)}).add(" '").add(op_name.c_str()).add("'");
            separator = ", ";
        }
        if (!slot_name.empty()) {
            line.add(separator).add("slot '").add(slot_name.c_str()).add("'");
        } else if (slot != SlotIndex::none) {
            line.add(separator).add("slot ").add(std::int64_t{to_integer(slot)});
        }
        if (other_op != OpIndex::none) {
            line.add(", against op ")
                .add(std::int64_t{to_integer(other_op)})
                .add(" '")
                .add(other_op_name.c_str())
                .add("'");
            if (!other_memory.empty()) line.add(", memory '").add(other_memory.c_str()).add("'");
        }
        if (has_value) line.add(": ").add(value_is).add(" ").add(value).add(", ").add(limit_is).add(" ").add(limit);
        if (native_name != nullptr) line.add(": ").add(native_name).add(" (").add(native).add(")");
        return line;
    }
};

}  // namespace graphjit::inline v0
