#include <graphjit/record/op_writer.hpp>

#include "support/failing_allocations.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

namespace gj = graphjit;
using gj::Access;
using gj::detail::ConstantView;
using gj::detail::SymbolicView;
using gj::ErrorCode;
using gj::OpKind;
using gj::UseKind;

class Writer : public gj::OpWriter {
public:
    using OpWriter::add_dim;
    using OpWriter::add_integer;
    using OpWriter::add_memory;
    using OpWriter::add_slot;
    using OpWriter::add_slot_use;
    using OpWriter::add_value;
    using OpWriter::add_variable;
    using OpWriter::add_view;
    using OpWriter::begin_fill;
    using OpWriter::begin_op;
    using OpWriter::copy_views;
    using OpWriter::end_op;
    using OpWriter::list_;
    using OpWriter::owner;

    Writer() = default;

    gj::Expr variable(const char* name, std::int64_t least, std::int64_t most) {
        return gj::detail::HandleAccess::variable(owner(), add_variable(name, {least, most}, nullptr));
    }
    ConstantView memory(const char* name, std::int64_t bytes, std::uintptr_t address = 0x1000, bool is_const = false) {
        return add_memory(name, {.is_const = is_const, .address = address, .bytes = bytes});
    }
    ConstantView input(const char* name, std::int64_t bytes) {
        const gj::SlotIndex slot = add_slot(name, {.index = static_cast<std::uint32_t>(list_.memories().size())});
        return add_memory(name, {.is_input = true, .slot = slot, .bytes = bytes});
    }
};

constexpr gj::ArgumentInfo arguments[] = {{0, 8, gj::ArgumentRole::out}, {8, 4, gj::ArgumentRole::value}};
constexpr gj::KernelInfo info{"kernel", 6, 12, 8, gj::KernelInfo::no_dims, 2, arguments};
constexpr gj::KernelInfo wide_info{"wide", 4, 40, 16, 16, 0, nullptr};
constexpr gj::KernelInfo empty_info{"empty", 5, 0, 1, gj::KernelInfo::no_dims, 0, nullptr};

/// Records an op that `write` gets the block of; the code of what went wrong.
template <class Write>
ErrorCode record(Writer& writer, Write write) {
    writer.clear_error();
    std::byte* block = writer.begin_op(OpKind::kernel, info, 1, nullptr, 4);
    REQUIRE(block != nullptr);
    write(block);
    const gj::OpIndex op = writer.end_op();
    CHECK((op == gj::OpIndex::none) == !writer.status().ok());
    return writer.status().code();
}

TEST_CASE("OpWriter: a block is zero, aligned for its kernel, and apart from the others") {
    Writer writer;
    for (int i = 0; i < 300; ++i) {
        std::byte* narrow = writer.begin_op(OpKind::kernel, info, 1, nullptr, 0);
        REQUIRE(narrow != nullptr);
        for (std::uint32_t k = 0; k < info.block_bytes; ++k) CHECK(narrow[k] == std::byte{0});
        std::memset(narrow, 0xff, info.block_bytes);
        (void)writer.end_op();
        std::byte* wide = writer.begin_op(OpKind::kernel, wide_info, 1, nullptr, 0);
        REQUIRE(wide != nullptr);
        for (std::uint32_t k = 0; k < wide_info.block_bytes; ++k) CHECK(wide[k] == std::byte{0});
        CHECK(writer.list_.ops()[writer.size() - 1].block % 16 == 0);
        std::memset(wide, 0xff, wide_info.block_bytes);
        (void)writer.end_op();
    }
}

TEST_CASE("OpWriter: an op without arguments has an empty block, and can be the first") {
    Writer writer;
    CHECK(writer.begin_op(OpKind::kernel, empty_info, 1, "name", 0) != nullptr);
    CHECK(writer.end_op() == gj::OpIndex{0});
    CHECK(writer.begin_op(OpKind::kernel, empty_info, 1, nullptr, 0) != nullptr);
    CHECK(writer.end_op() == gj::OpIndex{1});
    CHECK(writer.status().ok());
}

TEST_CASE("OpWriter: a view of an allocation is an address in the block and an access") {
    Writer writer;
    const ConstantView memory = writer.memory("m", 64, 0x1000);
    CHECK(record(writer, [&](std::byte* block) {
              writer.add_view(block, 0, Access::out, ConstantView{memory.owner, memory.memory, 8, 16});
              std::uintptr_t address = 0;
              std::memcpy(&address, block, sizeof address);
              CHECK(address == 0x1008);
          }) == ErrorCode::ok);
    const gj::AccessRecord& access = writer.list_.accesses(gj::OpIndex{0})[0];
    CHECK(access.memory == memory.memory);
    CHECK(access.access == Access::out);
    CHECK(access.begin == 8);
    CHECK(access.end == 24);
    CHECK(writer.list_.uses().empty());
}

TEST_CASE("OpWriter: a view of an input is a use that replays fill in") {
    Writer writer;
    (void)writer.memory("m", 64);
    const ConstantView input = writer.input("in", 64);
    CHECK(record(writer, [&](std::byte* block) {
              writer.add_view(block, 0, Access::in, ConstantView{input.owner, input.memory, 8, 16});
              for (int i = 0; i < 8; ++i) CHECK(block[i] == std::byte{0});
          }) == ErrorCode::ok);
    REQUIRE(writer.list_.uses().size() == 1);
    const gj::Use& use = writer.list_.uses()[0];
    CHECK(use.kind == UseKind::pointer);
    CHECK(use.slot == gj::SlotIndex{0});
    CHECK(use.memory == input.memory);
    CHECK(use.op == gj::OpIndex{0});
    CHECK(use.add == 8);
    CHECK(use.bytes == 16);
}

TEST_CASE("OpWriter: an access of no bytes is none, but of memory that has none it is") {
    Writer writer;
    const ConstantView memory = writer.memory("m", 64);
    const ConstantView token = writer.memory("t", 0, 0);
    CHECK(record(writer, [&](std::byte* block) {
              writer.add_view(block, 0, Access::out, ConstantView{memory.owner, memory.memory, 8, 0});
              writer.add_view(nullptr, 0, Access::in, token);
          }) == ErrorCode::ok);
    REQUIRE(writer.list_.accesses(gj::OpIndex{0}).size() == 1);
    CHECK(writer.list_.accesses(gj::OpIndex{0})[0].memory == token.memory);
}

TEST_CASE("OpWriter: memory registered as const can be read and not written") {
    Writer writer;
    const ConstantView memory = writer.memory("m", 64, 0x1000, true);
    const auto use_as = [&](Access access) {
        return record(writer, [&](std::byte* block) { writer.add_view(block, 0, access, memory); });
    };
    CHECK(use_as(Access::in) == ErrorCode::ok);
    CHECK(use_as(Access::out) == ErrorCode::invalid_argument);
    CHECK(use_as(Access::in_out) == ErrorCode::invalid_argument);
    const SymbolicView part{memory, writer.variable("x", 0, 4), 4};
    CHECK(record(writer, [&](std::byte* block) { writer.add_view(block, 0, Access::out, part); }) ==
          ErrorCode::invalid_argument);
}

TEST_CASE("OpWriter: a symbolic view is an access of all it may touch") {
    Writer writer;
    const ConstantView memory = writer.memory("m", 100);
    const ConstantView inner{memory.owner, memory.memory, 20, 60};  // 20 … 79
    const gj::Expr x = writer.variable("x", 2, 5);
    const auto range = [&](const gj::Expr& offset, const gj::Expr& bytes) {
        const ErrorCode code = record(writer, [&](std::byte* block) {
            writer.add_view(block, 0, Access::out, SymbolicView{inner, offset, bytes});
        });
        if (code != ErrorCode::ok) return std::string("refused");
        const auto accesses = writer.list_.accesses(static_cast<gj::OpIndex>(writer.size() - 1));
        if (accesses.empty()) return std::string("none");
        const gj::AccessRecord& access = accesses[0];
        return std::to_string(access.begin) + "-" + std::to_string(access.end);
    };
    CHECK(range(x, 10) == "22-35");
    CHECK(range(x * 10, 10) == "40-80");
    CHECK(range(3, x) == "23-28");
    CHECK(range(x, x) == "22-30");
    CHECK(range(x - 5, 10) == "20-30");   // an offset below 0 is refused at replay
    CHECK(range(x * 10, 20) == "40-80");  // and so is an end behind the buffer's
    CHECK(range(x * 12, x * 12) == "44-80");
    CHECK(range(x * 100, 1) == "refused");  // never inside
    CHECK(range(0 - x, 1) == "refused");
    CHECK(range(x, 0 - x) == "refused");
    CHECK(range(x - 5, 61) == "refused");  // larger than the buffer
    CHECK(range(x, 59) == "refused");      // at least 2 + 59
    CHECK(range(x, 58) == "22-80");        // inside for 2 only
    CHECK(range(60, x - 2) == "none");     // no byte is left there
}

TEST_CASE("OpWriter: a symbolic view that has no Variable left is a plain view") {
    Writer writer;
    const ConstantView memory = writer.memory("m", 100, 0x1000);
    const auto place = [&](const gj::Expr& offset, const gj::Expr& bytes) {
        std::uintptr_t address = 0;
        const ErrorCode code = record(writer, [&](std::byte* block) {
            writer.add_view(block, 0, Access::out, SymbolicView{memory, offset, bytes});
            std::memcpy(&address, block, sizeof address);
        });
        return code == ErrorCode::ok ? static_cast<int>(address) - 0x1000 : -1;
    };
    CHECK(place(gj::Expr(3) * 4, 8) == 12);
    CHECK(place(92, 8) == 92);
    CHECK(place(93, 8) == -1);
    CHECK(place(-1, 8) == -1);
    CHECK(place(4, -1) == -1);
    CHECK(place(101, 0) == -1);
    CHECK(place(INT64_MAX, INT64_MAX) == -1);
    CHECK(place(gj::Expr(INT64_MAX) + 1, 8) == -1);
    CHECK(writer.list_.uses().empty());
}

TEST_CASE("OpWriter: an integer argument holds what its type can") {
    Writer writer;
    const auto give = [&](std::uint8_t width, bool is_signed, std::int64_t value) {
        return record(writer, [&](std::byte* block) {
            std::memset(block, 0xee, 12);
            writer.add_integer(block, 0, width, is_signed, value);
            if (!writer.status().ok()) return;
            std::int64_t stored = 0;
            std::memcpy(&stored, block, width);
            const unsigned shift = 64 - 8u * width;
            const std::int64_t widened = is_signed
                                             ? static_cast<std::int64_t>(static_cast<std::uint64_t>(stored) << shift) >>
                                                   shift
                                             : stored;
            CHECK(widened == value);
            CHECK(block[width] == std::byte{0xee});  // and nothing behind it is touched
        });
    };
    for (const std::uint8_t width : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{4}}) {
        const std::int64_t values = std::int64_t{1} << (8 * width);
        CHECK(give(width, true, values / 2 - 1) == ErrorCode::ok);
        CHECK(give(width, true, values / 2) == ErrorCode::out_of_range);
        CHECK(give(width, true, -values / 2) == ErrorCode::ok);
        CHECK(give(width, true, -values / 2 - 1) == ErrorCode::out_of_range);
        CHECK(give(width, false, values - 1) == ErrorCode::ok);
        CHECK(give(width, false, values) == ErrorCode::out_of_range);
        CHECK(give(width, false, -1) == ErrorCode::out_of_range);
    }
    CHECK(give(8, true, INT64_MIN) == ErrorCode::ok);
    CHECK(give(8, false, INT64_MAX) == ErrorCode::ok);
    CHECK(give(8, false, -1) == ErrorCode::out_of_range);
    CHECK(writer.list_.uses().empty());
}

TEST_CASE("OpWriter: launch dims fit 32 bits; no groups are some, an empty group is none") {
    Writer writer;
    const auto give = [&](std::uint8_t dim, std::int64_t value) {
        return record(writer, [&](std::byte* block) { writer.add_dim(block, 0, dim, value); });
    };
    CHECK(give(0, 0) == ErrorCode::ok);
    CHECK(give(2, 0xffff'ffff) == ErrorCode::ok);
    CHECK(give(0, -1) == ErrorCode::dims_limit);
    CHECK(give(0, 0x1'0000'0000) == ErrorCode::dims_limit);
    CHECK(give(3, 1) == ErrorCode::ok);
    CHECK(give(3, 0) == ErrorCode::dims_limit);
    CHECK(give(5, 0x1'0000'0000) == ErrorCode::dims_limit);
    CHECK(writer.list_.uses().empty());
    const gj::Expr x = writer.variable("x", -5, 5);
    CHECK(record(writer, [&](std::byte* block) { writer.add_dim(block, 4, 4, x + 1); }) == ErrorCode::ok);
    REQUIRE(writer.list_.uses().size() == 1);
    CHECK(writer.list_.uses()[0].kind == UseKind::dim);
    CHECK(writer.list_.uses()[0].dim == 4);
    CHECK(writer.list_.uses()[0].offset == 4);
}

TEST_CASE("OpWriter: a Slot must be of this recording") {
    Writer writer;
    const gj::SlotIndex slot = writer.add_value("s", nullptr, 4, 4);
    const auto give = [&](std::uint32_t owner, gj::SlotIndex index) {
        return record(writer, [&](std::byte*) { writer.add_slot_use(8, owner, index); });
    };
    CHECK(give(writer.owner(), slot) == ErrorCode::ok);
    CHECK(give(writer.owner() + 1, slot) == ErrorCode::foreign_handle);
    CHECK(give(writer.owner(), gj::SlotIndex{1}) == ErrorCode::foreign_handle);
    CHECK(give(writer.owner(), gj::SlotIndex::none) == ErrorCode::foreign_handle);
    CHECK(give(0, gj::SlotIndex::none) == ErrorCode::foreign_handle);
    CHECK(writer.list_.uses().size() == 1);
}

TEST_CASE("OpWriter: the two ends of a copy have one size and no common byte") {
    Writer writer;
    const ConstantView memory = writer.memory("m", 64, 0x1000);
    const ConstantView again = writer.memory("again", 64, 0x1020);  // from byte 32 of the other on
    const ConstantView apart = writer.memory("apart", 64, 0x2000);
    const ConstantView input = writer.input("in", 64);
    const auto part = [](ConstantView view, std::int64_t offset, std::int64_t bytes) {
        view.offset += offset;
        view.bytes = bytes;
        return view;
    };
    const auto copy = [&](const auto& to, const auto& from) {
        writer.clear_error();
        (void)writer.copy_views(nullptr, to, from);
        return writer.status().code();
    };
    CHECK(copy(memory, apart) == ErrorCode::ok);
    CHECK(copy(part(memory, 0, 8), apart) == ErrorCode::invalid_argument);
    CHECK(copy(part(memory, 0, 8), part(memory, 8, 8)) == ErrorCode::ok);
    CHECK(copy(part(memory, 8, 8), part(memory, 0, 8)) == ErrorCode::ok);
    CHECK(copy(part(memory, 0, 8), part(memory, 7, 8)) == ErrorCode::overlap);
    CHECK(copy(part(memory, 7, 8), part(memory, 0, 8)) == ErrorCode::overlap);
    CHECK(copy(memory, memory) == ErrorCode::overlap);
    CHECK(copy(part(memory, 4, 0), part(memory, 4, 0)) == ErrorCode::ok);
    CHECK(copy(part(memory, 0, 32), part(again, 0, 32)) == ErrorCode::ok);
    CHECK(copy(part(memory, 0, 33), part(again, 0, 33)) == ErrorCode::overlap);
    CHECK(copy(part(again, 0, 33), part(memory, 0, 33)) == ErrorCode::overlap);
    CHECK(copy(memory, input) == ErrorCode::ok);
    CHECK(copy(part(input, 0, 8), part(input, 8, 8)) == ErrorCode::ok);

    const gj::Expr x = writer.variable("x", 0, 4);
    const gj::Expr y = writer.variable("y", 0, 4);
    CHECK(copy(SymbolicView{memory, 0, x}, SymbolicView{apart, 0, x}) == ErrorCode::ok);
    CHECK(copy(SymbolicView{memory, 0, x}, SymbolicView{apart, 0, y}) == ErrorCode::invalid_argument);
    CHECK(copy(SymbolicView{memory, x, 8}, part(apart, 0, 8)) == ErrorCode::ok);
    CHECK(copy(SymbolicView{memory, x, 8}, part(apart, 0, 7)) == ErrorCode::invalid_argument);
    CHECK(copy(SymbolicView{memory, x, 8}, part(memory, 0, 8)) == ErrorCode::ok);  // depends on x: decided at replay
}

TEST_CASE("OpWriter: a refused op leaves nothing, and the next one is written as if it had never been") {
    const auto write = [](bool with_refused) {
        Writer writer;
        const ConstantView memory = writer.memory("m", 64);
        const ConstantView input = writer.input("in", 64);
        const gj::Expr x = writer.variable("x", 0, 4);
        const auto good = [&](const char* name) {
            std::byte* block = writer.begin_op(OpKind::kernel, info, 1, name, 4);
            REQUIRE(block != nullptr);
            writer.add_view(block, 0, Access::out, input);
            writer.add_integer(block, 8, 4, true, x);
            return writer.end_op();
        };
        const auto bad = [&](const char* name) {
            std::byte* block = writer.begin_op(OpKind::kernel, wide_info, 1, name, 4);
            REQUIRE(block != nullptr);
            writer.add_view(block, 0, Access::out, input);
            writer.add_view(nullptr, 0, Access::in, memory);
            writer.add_integer(block, 8, 4, true, x);
            writer.add_view(block, 0, Access::out, ConstantView{});
            return writer.end_op();
        };
        CHECK(good("first") == gj::OpIndex{0});
        if (with_refused) {
            CHECK(bad("refused") == gj::OpIndex::none);
            CHECK(writer.status().error().op == gj::OpIndex{1});
            CHECK(std::string(writer.status().error().op_name.c_str()) == "refused");
            CHECK(bad(nullptr) == gj::OpIndex::none);
            writer.clear_error();
        }
        CHECK(good("second") == gj::OpIndex{1});
        return std::move(writer.list_);
    };
    const gj::OpList clean = write(false);
    const gj::OpList after = write(true);
    CHECK(after.size() == clean.size());
    CHECK(after.uses().size() == clean.uses().size());
    CHECK(after.blocks().size() == clean.blocks().size());
    CHECK(after.op(gj::OpIndex{1}).block == clean.op(gj::OpIndex{1}).block);
    CHECK(after.op(gj::OpIndex{1}).first_access == clean.op(gj::OpIndex{1}).first_access);
    CHECK(after.op(gj::OpIndex{1}).access_count == clean.op(gj::OpIndex{1}).access_count);
    CHECK(after.op(gj::OpIndex{1}).name.begin == clean.op(gj::OpIndex{1}).name.begin);
    CHECK(std::memcmp(after.blocks().data(), clean.blocks().data(), clean.blocks().size()) == 0);
}

TEST_CASE("OpWriter: ops are written for the device last chosen") {
    Writer writer;
    const auto device_of_next = [&] {
        (void)record(writer, [](std::byte*) {});
        return writer.list_.ops()[writer.size() - 1].device;
    };
    CHECK(device_of_next() == gj::DeviceId{0});
    writer.on(gj::DeviceId{3});
    CHECK(device_of_next() == gj::DeviceId{3});
    CHECK(device_of_next() == gj::DeviceId{3});
    writer.on(gj::DeviceId{1});
    CHECK(device_of_next() == gj::DeviceId{1});
}

TEST_CASE("OpWriter: where memory runs out the op is lost, with an error, and not a bit more") {
    int lost = 0;
    for (std::size_t allowed = 0; allowed < 6; ++allowed) {
        Writer writer;
        const ConstantView input = writer.input("in", 64);
        for (int i = 0; i < 500; ++i) {
            const std::uint32_t size = writer.size();
            gj::OpIndex op = gj::OpIndex::none;
            {
                const test::FailingAllocations failing(i % 16 == 0 ? allowed : 0);
                std::byte* block = writer.begin_op(OpKind::kernel, info, 1, "a name", 4);
                if (block != nullptr) {
                    writer.add_view(block, 0, Access::out, input);
                    op = writer.end_op();
                }
            }
            CHECK((op == gj::OpIndex::none) == !writer.status().ok());
            if (op != gj::OpIndex::none) continue;
            ++lost;
            CHECK(writer.status().code() == ErrorCode::out_of_memory);
            CHECK(writer.size() == size);
            CHECK(writer.list_.uses().size() == size);
            writer.clear_error();
            CHECK(record(writer, [&](std::byte* block) { writer.add_view(block, 0, Access::out, input); }) ==
                  ErrorCode::ok);
        }
        CHECK(writer.size() == 500);
        CHECK(writer.list_.uses().size() == 500);
    }
    CHECK(lost > 0);
}

}  // namespace
