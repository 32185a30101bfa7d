#include <graphjit/base/result.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

#if !GRAPHJIT_EXCEPTIONS && defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

namespace {

namespace gj = graphjit;

gj::Error error(gj::ErrorCode code = gj::ErrorCode::unbound) {
    gj::Error made;
    made.code = code;
    made.text = "a slot has never been set";
    return made;
}

/// Counts its living objects, and knows whether it was moved from.
class Counted {
public:
    explicit Counted(int value) noexcept : value_(value) { ++living; }
    Counted(Counted&& other) noexcept : value_(std::exchange(other.value_, -1)) { ++living; }
    ~Counted() { --living; }
    [[nodiscard]] int value() const { return value_; }

    static inline int living = 0;

private:
    int value_;
};

TEST_CASE("Status: success unless made of an error") {
    CHECK(gj::Status().ok());
    CHECK(static_cast<bool>(gj::Status()));
    CHECK(gj::Status().code() == gj::ErrorCode::ok);
    gj::Status().value();
    CHECK(std::string(gj::Status().message().c_str()) == "graphjit: ok");

    const gj::Status failed = error();
    CHECK(!failed.ok());
    CHECK(!failed);
    CHECK(failed.code() == gj::ErrorCode::unbound);
    CHECK(failed.error().code == gj::ErrorCode::unbound);
    CHECK(std::string(failed.message().c_str()) == "graphjit: a slot has never been set");
}

TEST_CASE("Result: gives its value by every access") {
    gj::Result<std::string> result(std::string("text"));
    CHECK(result.ok());
    CHECK(static_cast<bool>(result));
    CHECK(result.code() == gj::ErrorCode::ok);
    CHECK(result.status().ok());
    CHECK(std::string(result.message().c_str()) == "graphjit: ok");
    CHECK(result.value() == "text");
    CHECK(std::as_const(result).value() == "text");
    CHECK(*result == "text");
    CHECK(result->size() == 4);
    result.value() += "s";
    CHECK(*result == "texts");
}

TEST_CASE("Result: a value that only moves is moved out") {
    gj::Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
    const std::unique_ptr<int> value = std::move(result).value();
    REQUIRE(value != nullptr);
    CHECK(*value == 5);
    CHECK(*result == nullptr);  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("Result: without a value it has the error") {
    const gj::Result<std::string> result = error();
    CHECK(!result.ok());
    CHECK(!result);
    CHECK(result.code() == gj::ErrorCode::unbound);
    CHECK(result.status().code() == gj::ErrorCode::unbound);
    CHECK(std::string(result.message().c_str()) == "graphjit: a slot has never been set");

    const gj::Result<int> from_status = gj::Status(error(gj::ErrorCode::overlap));
    CHECK(from_status.code() == gj::ErrorCode::overlap);
}

TEST_CASE("Result: made of a success without a value it is still a failure") {
    const gj::Result<int> from_status = gj::Status();
    CHECK(!from_status.ok());
    CHECK(from_status.code() == gj::ErrorCode::invalid_argument);
    const gj::Result<int> from_error = gj::Error();
    CHECK(!from_error.ok());
    CHECK(from_error.code() == gj::ErrorCode::invalid_argument);
}

TEST_CASE("Result: values are destroyed once, whatever is moved where") {
    CHECK(Counted::living == 0);
    {
        gj::Result<Counted> value = Counted(1);
        CHECK(Counted::living == 1);
        gj::Result<Counted> moved = std::move(value);
        CHECK(moved->value() == 1);
        CHECK(Counted::living == 2);  // the moved-from one, and the one it moved into

        gj::Result<Counted> failed = error();
        CHECK(Counted::living == 2);
        failed = std::move(moved);  // an error becomes a value
        CHECK(failed->value() == 1);
        CHECK(Counted::living == 3);

        failed = error(gj::ErrorCode::overflow);  // and an error again
        CHECK(failed.code() == gj::ErrorCode::overflow);
        CHECK(Counted::living == 2);

        gj::Result<Counted> other = Counted(2);
        other = Counted(3);
        CHECK(other->value() == 3);
        CHECK(Counted::living == 3);

        gj::Result<Counted>& same = other;
        other = std::move(same);
        CHECK(other.ok());
        CHECK(other->value() == 3);
        CHECK(Counted::living == 3);
    }
    CHECK(Counted::living == 0);
}

TEST_CASE("Result: an error survives moves") {
    gj::Result<Counted> failed = error(gj::ErrorCode::wrong_device);
    gj::Result<Counted> moved = std::move(failed);
    CHECK(moved.code() == gj::ErrorCode::wrong_device);
    gj::Result<Counted> assigned = Counted(1);
    assigned = std::move(moved);
    CHECK(assigned.code() == gj::ErrorCode::wrong_device);
    CHECK(Counted::living == 0);
}

#if GRAPHJIT_EXCEPTIONS

TEST_CASE("value(): throws what went wrong, as an std::exception too") {
    gj::Result<std::string> failed = error();
    CHECK_THROWS_WITH_AS(static_cast<void>(failed.value()), "graphjit: a slot has never been set", gj::Exception);
    CHECK_THROWS_WITH_AS(static_cast<void>(std::as_const(failed).value()), "graphjit: a slot has never been set",
                         std::exception);
    CHECK_THROWS_AS(static_cast<void>(std::move(failed).value()), gj::Exception);
    CHECK_THROWS_WITH_AS(gj::Status(error()).value(), "graphjit: a slot has never been set", gj::Exception);
    try {
        gj::Status(error(gj::ErrorCode::too_small)).value();
        FAIL("no exception");
    } catch (const gj::Exception& exception) { CHECK(exception.error().code == gj::ErrorCode::too_small); }
}

#elif defined(__unix__)

template <class Act>
bool kills_the_process(Act act) {
    const pid_t child = fork();
    if (child == 0) {
        for (const int signal : {SIGILL, SIGTRAP, SIGABRT}) std::signal(signal, SIG_DFL);  // doctest would report it
        act();
        _exit(0);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

TEST_CASE("value(): without exceptions it never goes on without a value") {
    CHECK(kills_the_process([] { gj::Status(error()).value(); }));
    CHECK(kills_the_process([] { (void)gj::Result<int>(error()).value(); }));
    CHECK(!kills_the_process([] { gj::Status().value(); }));
    CHECK(!kills_the_process([] { (void)gj::Result<int>(1).value(); }));
}

#endif

}  // namespace
