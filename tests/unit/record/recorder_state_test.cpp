#include <graphjit/record/recorder_state.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace gj = graphjit;

class State : public gj::RecorderState {
public:
    using RecorderState::add_alias;
    using RecorderState::add_memory;
    using RecorderState::add_slot;
    using RecorderState::add_value;
    using RecorderState::add_variable;
    using RecorderState::fail;
    using RecorderState::intern;
    using RecorderState::known;
    using RecorderState::list_;
    using RecorderState::owner;
    using RecorderState::take;

    State() = default;
    State(State&&) = default;
    State& operator=(State&&) = default;
};

gj::Expr variable(const State& state, gj::SlotIndex slot) {
    return gj::detail::HandleAccess::variable(state.owner(), slot);
}

TEST_CASE("RecorderState: every recording has a number of its own, from any thread, and never 0") {
    std::vector<std::uint32_t> owners[4];
    {
        std::vector<std::thread> threads;
        for (auto& own : owners) {
            threads.emplace_back([&own] {
                for (int i = 0; i < 2'000; ++i) own.push_back(gj::detail::next_owner());
            });
        }
        for (std::thread& thread : threads) thread.join();
    }
    std::set<std::uint32_t> all;
    for (const auto& own : owners) all.insert(own.begin(), own.end());
    CHECK(all.size() == 8'000);
    CHECK(!all.contains(0));
}

TEST_CASE("RecorderState: the first error stays until it is cleared") {
    State state;
    CHECK(state.status().ok());
    state.fail(gj::ErrorCode::overflow, "first", "a");
    state.fail(gj::ErrorCode::overlap, "second", "b");
    CHECK(std::string(state.status().message().c_str()) == "graphjit: first: slot 'a'");
    CHECK(!state.take().ok());
    state.clear_error();
    CHECK(state.status().ok());
    state.fail(gj::ErrorCode::overlap, "third");
    CHECK(state.status().code() == gj::ErrorCode::overlap);
    CHECK(std::string(state.status().message().c_str()) == "graphjit: third");
    state.clear_error();
    CHECK(state.take().ok());
}

TEST_CASE("RecorderState: an error about something without a name has none") {
    State state;
    state.fail(gj::ErrorCode::invalid_argument, "text", nullptr);
    CHECK(std::string(state.status().message().c_str()) == "graphjit: text");
}

TEST_CASE("RecorderState: memory and slots are numbered in the order they come, each with its name") {
    State state;
    const gj::detail::ConstantView a = state.add_memory("a", {.bytes = 16});
    const gj::detail::ConstantView b = state.add_memory("", {.bytes = 32});
    const gj::detail::ConstantView c = state.add_memory(nullptr, {});
    CHECK(a.memory == gj::MemoryIndex{0});
    CHECK(b.memory == gj::MemoryIndex{1});
    CHECK(c.memory == gj::MemoryIndex{2});
    CHECK(b.bytes == 32);
    CHECK(b.owner == state.owner());
    const float initial = 2.5f;
    CHECK(state.add_value("gain", &initial, sizeof initial, alignof(float)) == gj::SlotIndex{0});
    CHECK(state.add_variable("position", {-1, 9}, nullptr) == gj::SlotIndex{1});
    CHECK(state.add_slot("in", {.kind = gj::SlotKind::input}) == gj::SlotIndex{2});

    const gj::OpList list = state.take().value();
    const auto text = [](gj::Span<const char> span) { return std::string(span.begin(), span.end()); };
    CHECK(text(list.name(gj::MemoryIndex{0})) == "a");
    CHECK(text(list.name(gj::MemoryIndex{1})) == "");
    CHECK(text(list.name(gj::MemoryIndex{2})) == "");
    CHECK(text(list.name(gj::SlotIndex{0})) == "gain");
    CHECK(text(list.name(gj::SlotIndex{1})) == "position");
    CHECK(text(list.name(gj::SlotIndex{2})) == "in");
    CHECK(list.slot(gj::SlotIndex{0}).kind == gj::SlotKind::value);
    CHECK(list.slot(gj::SlotIndex{1}).kind == gj::SlotKind::variable);
    CHECK(list.slot(gj::SlotIndex{2}).kind == gj::SlotKind::input);
}

TEST_CASE("RecorderState: value slots lie at their own alignment, with what they start as") {
    State state;
    const char letter = 'x';
    const double number = 2.5;
    (void)state.add_value("a", &letter, 1, 1);
    (void)state.add_value("b", &number, sizeof number, alignof(double));
    (void)state.add_value("c", nullptr, 3, 1);
    struct alignas(16) Quad {
        float values[4];
    };
    const Quad quad{{1, 2, 3, 4}};
    (void)state.add_value("d", &quad, sizeof quad, alignof(Quad));
    const gj::OpList list = state.take().value();
    const auto at = [&](std::uint32_t slot) { return list.slots()[slot].index; };
    CHECK(at(0) == 0);
    CHECK(at(1) == 8);
    CHECK(at(2) == 16);
    CHECK(at(3) == 32);
    double kept = 0;
    std::memcpy(&kept, list.values().data() + at(1), sizeof kept);
    CHECK(kept == 2.5);
    CHECK(std::memcmp(list.values().data() + at(3), &quad, sizeof quad) == 0);
    CHECK(list.slots()[1].has_initial);
    CHECK(!list.slots()[2].has_initial);
    CHECK(list.slots()[2].bytes == 3);
    for (std::size_t i = 16; i < 32; ++i) CHECK(list.values()[i] == std::byte{0});
}

TEST_CASE("RecorderState: a Variable needs a range with something in it, and starts inside") {
    const auto code = [](gj::Bounds range, const std::int64_t* initial) {
        State state;
        const gj::SlotIndex slot = state.add_variable("v", range, initial);
        CHECK((slot == gj::SlotIndex::none) == !state.status().ok());
        return state.status().code();
    };
    const std::int64_t values[] = {-1, 0, 5, 6, INT64_MIN, INT64_MAX};
    CHECK(code({0, 5}, nullptr) == gj::ErrorCode::ok);
    CHECK(code({5, 5}, &values[2]) == gj::ErrorCode::ok);
    CHECK(code({0, 5}, &values[1]) == gj::ErrorCode::ok);
    CHECK(code({0, 5}, &values[0]) == gj::ErrorCode::invalid_argument);
    CHECK(code({0, 5}, &values[3]) == gj::ErrorCode::invalid_argument);
    CHECK(code({5, 0}, nullptr) == gj::ErrorCode::invalid_argument);
    CHECK(code({INT64_MIN, INT64_MAX}, &values[4]) == gj::ErrorCode::ok);
    CHECK(code({INT64_MIN, INT64_MAX}, &values[5]) == gj::ErrorCode::ok);
}

TEST_CASE("RecorderState: an expression is refused for what is wrong with it") {
    State state;
    const gj::Expr x = variable(state, state.add_variable("x", {0, 9}, nullptr));
    const gj::SlotIndex number = state.add_value("number", nullptr, 4, 4);
    State other;
    const gj::Expr foreign = variable(other, other.add_variable("y", {0, 9}, nullptr));
    const auto code = [&](const gj::Expr& expr) {
        state.clear_error();
        const gj::ExprIndex index = state.intern(expr);
        CHECK((index == gj::ExprIndex::none) == !state.status().ok());
        return state.status().code();
    };
    CHECK(code(x * 2 + 1) == gj::ErrorCode::ok);
    CHECK(code(5) == gj::ErrorCode::ok);
    CHECK(code(x + x + x + x + x + x + x + x + x) == gj::ErrorCode::invalid_argument);
    CHECK(code(x + foreign) == gj::ErrorCode::foreign_handle);
    CHECK(code(foreign) == gj::ErrorCode::foreign_handle);
    CHECK(code(gj::Expr(INT64_MAX) + 1) == gj::ErrorCode::overflow);
    CHECK(code(UINT64_MAX) == gj::ErrorCode::overflow);
    CHECK(code(x / 0 + gj::Expr(1) / 0) == gj::ErrorCode::division_by_zero);
    CHECK(code(variable(state, gj::SlotIndex::none)) == gj::ErrorCode::foreign_handle);
    CHECK(code(variable(state, gj::SlotIndex{100})) == gj::ErrorCode::foreign_handle);
    CHECK(code(variable(state, number)) == gj::ErrorCode::foreign_handle);  // a slot, but no Variable
    CHECK(code(gj::Expr(gj::Variable())) == gj::ErrorCode::foreign_handle);
    CHECK(code(x * 2 + 1) == gj::ErrorCode::ok);
}

TEST_CASE("RecorderState: a view is known if it is of this recording and lies inside its memory") {
    State state;
    const gj::detail::ConstantView mine = state.add_memory("a", {.bytes = 16});
    State other;
    (void)other.add_memory("b", {.bytes = 16});
    const gj::detail::ConstantView theirs = other.add_memory("c", {.bytes = 16});
    const auto code = [&](const gj::detail::ConstantView& view) {
        state.clear_error();
        const bool known = state.known(view);
        CHECK(known == state.status().ok());
        return state.status().code();
    };
    CHECK(code(mine) == gj::ErrorCode::ok);
    CHECK(code(theirs) == gj::ErrorCode::foreign_handle);
    CHECK(code({}) == gj::ErrorCode::foreign_handle);
    CHECK(code({state.owner(), gj::MemoryIndex{1}, 0, 4}) == gj::ErrorCode::foreign_handle);
    CHECK(code({state.owner(), gj::MemoryIndex::none, 0, 4}) == gj::ErrorCode::foreign_handle);
    CHECK(code({state.owner(), gj::MemoryIndex{0}, 0, -1}) == gj::ErrorCode::invalid_argument);
}

TEST_CASE("RecorderState: memory is no alias of itself") {
    State state;
    const gj::detail::ConstantView a = state.add_memory("a", {.bytes = 16});
    const gj::detail::ConstantView b = state.add_memory("b", {.bytes = 16});
    state.add_alias(a, a);
    CHECK(state.list_.aliases().size() == 0);
    state.add_alias(a, b);
    CHECK(state.list_.aliases().size() == 1);
    CHECK(state.status().ok());
    state.add_alias(a, {});
    CHECK(state.status().code() == gj::ErrorCode::foreign_handle);
    CHECK(state.list_.aliases().size() == 1);
}

TEST_CASE("RecorderState: handles follow a recording that is moved, and the one it left starts anew") {
    State first;
    const gj::detail::ConstantView view = first.add_memory("a", {.bytes = 16});
    first.fail(gj::ErrorCode::overlap, "text");
    State second = std::move(first);
    CHECK(second.status().code() == gj::ErrorCode::overlap);
    second.clear_error();
    CHECK(second.known(view));
    CHECK(first.status().ok());  // NOLINT(bugprone-use-after-move)
    CHECK(!first.known(view));
    CHECK(first.owner() != second.owner());
    CHECK(first.owner() != 0);  // which handles of no recording have

    State third;
    third = std::move(second);
    CHECK(third.known(view));
    CHECK(!second.known(view));  // NOLINT(bugprone-use-after-move)
    State& same = third;
    third = std::move(same);
    CHECK(third.known(view));
}

TEST_CASE("RecorderState: what was taken is gone, and the handles of it are foreign from then on") {
    State state;
    const gj::detail::ConstantView view = state.add_memory("a", {.bytes = 16});
    const std::uint32_t owner = state.owner();
    const gj::OpList list = state.take().value();
    CHECK(list.owner() == owner);
    CHECK(list.memories().size() == 1);
    CHECK(state.owner() != owner);
    CHECK(state.owner() != 0);
    CHECK(!state.known(view));
    state.clear_error();
    CHECK(state.take().value().memories().size() == 0);
}

}  // namespace
