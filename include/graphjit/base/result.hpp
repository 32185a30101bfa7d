// Success or an Error; a value or an Error.
#pragma once

#include <graphjit/base/config.hpp>
#include <graphjit/base/error.hpp>

#include <new>
#include <type_traits>
#include <utility>

#if GRAPHJIT_EXCEPTIONS
#include <exception>
#endif

namespace graphjit::inline v0 {

#if GRAPHJIT_EXCEPTIONS
/// Thrown by `Status::value()` and `Result::value()`; nothing else of graphjit throws.
class Exception : public std::exception {
public:
    explicit Exception(const Error& error) noexcept : error_(error), text_(error.message()) {}
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
    [[nodiscard]] const Error& error() const noexcept { return error_; }

private:
    Error error_;
    ErrorText text_;
};
#endif

namespace detail {
inline const Error no_error{};

[[noreturn]] GRAPHJIT_COLD inline void fail(const Error& error) {
#if GRAPHJIT_EXCEPTIONS
    throw Exception(error);
#else
    const ErrorText text = error.message();
    GRAPHJIT_FATAL(text.c_str());
    __builtin_unreachable();
#endif
}
}  // namespace detail

/// Success, or an `Error`. Success costs one store: a replay makes one for each op that it tells a device of.
class [[nodiscard]] Status {
public:
    Status() noexcept {}
    Status(const Error& error) noexcept : code_(error.code) {
        if (!ok()) new (&error_) Error(error);
    }
    Status(const Status& other) noexcept : code_(other.code_) {
        if (!ok()) new (&error_) Error(other.error_);
    }
    Status& operator=(const Status& other) noexcept = default;

    [[nodiscard]] bool ok() const noexcept { return code_ == ErrorCode::ok; }
    explicit operator bool() const noexcept { return ok(); }
    /// Errors: throws `Exception`, or calls `GRAPHJIT_FATAL` where exceptions are off.
    void value() const {
        if (!ok()) detail::fail(error_);
    }
    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    [[nodiscard]] const Error& error() const noexcept { return ok() ? detail::no_error : error_; }
    [[nodiscard]] ErrorText message() const noexcept { return error().message(); }

private:
    union {
        Error error_;
    };
    ErrorCode code_ = ErrorCode::ok;
};

/// A `T`, or the reason why there is none.
/// Errors: `value()` throws `Exception`, or calls `GRAPHJIT_FATAL` where exceptions are off.
template <class T>
class [[nodiscard]] Result {
    static_assert(std::is_nothrow_move_constructible_v<T>);

public:
    Result(T&& value) noexcept : value_(std::move(value)) {}
    Result(const T& value) noexcept
        requires std::is_copy_constructible_v<T>
        : value_(value) {}
    Result(const Status& failure) noexcept : Result(failure.error()) {}
    Result(const Error& error) noexcept : error_(error), has_value_(false) {
        if (error_.code == ErrorCode::ok) error_.code = ErrorCode::invalid_argument;  // a Result is one or the other
    }
    Result(Result&& other) noexcept : has_value_(other.has_value_) {
        if (has_value_) {
            new (&value_) T(std::move(other.value_));
        } else {
            new (&error_) Error(other.error_);
        }
    }
    Result& operator=(Result&& other) noexcept {
        if (this != &other) {
            this->~Result();
            new (this) Result(std::move(other));
        }
        return *this;
    }
    ~Result() {
        if (has_value_) value_.~T();
    }

    [[nodiscard]] bool ok() const noexcept { return has_value_; }
    explicit operator bool() const noexcept { return has_value_; }

    [[nodiscard]] T& value() & { return has_value_ ? value_ : (detail::fail(error_), value_); }
    [[nodiscard]] const T& value() const& { return has_value_ ? value_ : (detail::fail(error_), value_); }
    [[nodiscard]] T value() && { return std::move(value()); }

    /// Pre: `ok()`.
    [[nodiscard]] T& operator*() noexcept { return value_; }
    [[nodiscard]] const T& operator*() const noexcept { return value_; }
    [[nodiscard]] T* operator->() noexcept { return &value_; }
    [[nodiscard]] const T* operator->() const noexcept { return &value_; }

    /// Pre: not `ok()`.
    [[nodiscard]] const Error& error() const noexcept { return error_; }
    [[nodiscard]] Status status() const noexcept { return has_value_ ? Status{} : Status{error_}; }
    [[nodiscard]] ErrorCode code() const noexcept { return has_value_ ? ErrorCode::ok : error_.code; }
    [[nodiscard]] ErrorText message() const noexcept { return has_value_ ? Error{}.message() : error_.message(); }

private:
    union {
        T value_;
        Error error_;
    };
    bool has_value_ = true;
};

}  // namespace graphjit::inline v0
