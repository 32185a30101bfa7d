#include <graphjit/run/expr_state.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/ways.hpp"

#include <set>
#include <vector>

namespace {

using namespace test;

/// A recording with Variables x, y, z and an op per expression, and the state of its expressions.
class Fixture {
public:
    explicit Fixture(gj::Bounds range = {-1'000, 1'000}) {
        for (const char* name : {"x", "y", "z"}) variables_.push_back(rec_.variable(name, {range.min, range.max}));
    }

    [[nodiscard]] gj::Variable operator[](std::size_t i) const { return variables_[i]; }
    [[nodiscard]] gj::Expr let(const gj::Expr& expr) { return rec_.let(expr); }
    void use(const gj::Expr& expr) { REQUIRE(rec_.launch(kernel_, nullptr, expr) != gj::OpIndex::none); }

    /// Ends the recording; `use` was called for each expression.
    void build() {
        list_ = std::move(rec_).finish().value();
        blocks_.resize(list_.blocks().size());
        const auto block_of = [&](gj::OpIndex op) { return blocks_.data() + list_.op(op).block; };
        REQUIRE(table_.build(list_, gj::CpuBackend::limits, block_of, [](const gj::Use&) { return true; }));
        REQUIRE(state_.build(list_.exprs()));
    }

    void set(std::size_t variable, std::int64_t value) {
        const gj::SlotRecord& slot = list_.slot(variables_[variable].slot());
        state_.set_variable(static_cast<gj::ExprIndex>(slot.index), value);
    }
    gj::detail::ExprFault evaluate() { return state_.evaluate(list_.exprs(), table_, evaluations_).kind; }
    /// Sets, evaluates and commits.
    void replay(std::int64_t x, std::int64_t y, std::int64_t z) {
        set(0, x);
        set(1, y);
        set(2, z);
        REQUIRE(evaluate() == gj::detail::ExprFault::none);
        state_.commit();
    }

    /// The value of what op `i` was given.
    [[nodiscard]] std::int64_t value(std::size_t i) const { return state_.current(list_.uses()[i].expr); }
    [[nodiscard]] bool changed(std::size_t i) const {
        for (const std::uint32_t expr : state_.changed()) {
            if (static_cast<gj::ExprIndex>(expr) == list_.uses()[i].expr) return true;
        }
        return false;
    }
    [[nodiscard]] gj::ExprState& state() { return state_; }
    [[nodiscard]] const CpuList& list() const { return list_; }
    /// Since the last call.
    [[nodiscard]] std::uint64_t evaluations() { return std::exchange(evaluations_, 0); }

private:
    static constexpr gj::HostKernel<[](std::int32_t*, std::int64_t) {}> kernel_{};

    CpuRecorder rec_;
    std::vector<gj::Variable> variables_;
    CpuList list_;
    std::vector<std::byte> blocks_;
    gj::PatchTable table_;
    gj::ExprState state_;
    std::uint64_t evaluations_ = 0;
};

TEST_CASE("ExprState: evaluates each expression once, and only what depends on a change") {
    Fixture f;
    const gj::Expr shared = f.let(f[0] * 10);
    f.use(shared + f[1]);  // 0
    f.use(shared + 1);     // 1
    f.use(f[2] * 2);       // 2
    f.use(f[1]);           // 3: a Variable needs no evaluation
    f.build();
    f.replay(1, 2, 3);
    CHECK(f.value(0) == 12);
    CHECK(f.value(1) == 11);
    CHECK(f.value(2) == 6);
    CHECK(f.value(3) == 2);
    CHECK(f.evaluations() == 4);  // x * 10 counts once

    f.replay(1, 2, 3);
    CHECK(f.evaluations() == 0);
    f.replay(1, 2, 4);
    CHECK(f.evaluations() == 1);
    CHECK(f.value(2) == 8);
    f.replay(1, 5, 4);
    CHECK(f.evaluations() == 1);
    CHECK(f.value(0) == 15);
    CHECK(f.value(3) == 5);
    f.replay(2, 5, 4);
    CHECK(f.evaluations() == 3);
    CHECK(f.value(0) == 25);
    CHECK(f.value(1) == 21);
}

TEST_CASE("ExprState: what comes out as before is no change, and ends the search") {
    Fixture f;
    const gj::Expr block = f.let(f[0] / 4);
    f.use(block * 100 + 1);
    f.build();
    f.replay(5, 0, 0);
    (void)f.evaluations();
    f.set(0, 6);
    REQUIRE(f.evaluate() == gj::detail::ExprFault::none);
    CHECK(f.evaluations() == 1);
    CHECK(!f.changed(0));
    f.state().commit();
    f.set(0, 8);
    REQUIRE(f.evaluate() == gj::detail::ExprFault::none);
    CHECK(f.evaluations() == 3);
    CHECK(f.changed(0));
    CHECK(f.value(0) == 201);
}

TEST_CASE("ExprState: an expression that no op uses is never evaluated") {
    Fixture f;
    (void)f.let(f[0] * 7 / (f[0] - f[0]) + 1);
    (void)f.let(f[0] * 7);
    f.use(f[1] + 1);
    f.build();
    f.replay(1, 1, 1);
    CHECK(f.evaluations() == 1);
}

TEST_CASE("ExprState: a replay that is refused leaves nothing behind") {
    Fixture f;
    f.use(f[0] + f[1]);
    f.use(f[0] * 3);
    f.build();
    f.replay(1, 1, 1);

    f.set(0, 50);
    REQUIRE(f.evaluate() == gj::detail::ExprFault::none);
    CHECK(f.value(0) == 51);  // what it would become
    f.state().refuse();
    CHECK(f.value(0) == 2);
    CHECK(f.value(1) == 3);
    CHECK(f.state().changed().size() == 0);

    // A change of another Variable must not bring the refused value back.
    f.set(1, 7);
    REQUIRE(f.evaluate() == gj::detail::ExprFault::none);
    CHECK(f.value(0) == 8);
    CHECK(f.value(1) == 3);
    CHECK(f.changed(0));
    CHECK(!f.changed(1));
    f.state().commit();
    CHECK(f.value(0) == 8);
}

TEST_CASE("ExprState: refused before anything was evaluated, a set Variable is forgotten") {
    Fixture f;
    f.use(f[0] + 1);
    f.build();
    f.replay(1, 1, 1);
    f.set(0, 50);
    f.state().refuse();
    REQUIRE(f.evaluate() == gj::detail::ExprFault::none);
    CHECK(f.state().changed().size() == 0);
    CHECK(f.value(0) == 2);
}

TEST_CASE("ExprState: an overflow and a bad divisor are faults, and the state is as before") {
    Fixture f({INT64_MIN, INT64_MAX});
    f.use(f[0] + f[1]);
    f.use(f[2] / f[1]);
    f.build();
    f.replay(1, 2, 8);
    f.set(0, INT64_MAX);
    CHECK(f.evaluate() == gj::detail::ExprFault::overflow);
    f.state().refuse();
    CHECK(f.value(0) == 3);
    f.set(1, 0);
    CHECK(f.evaluate() == gj::detail::ExprFault::divisor);
    f.state().refuse();
    CHECK(f.value(0) == 3);
    CHECK(f.value(1) == 4);
    f.replay(1, 4, 8);
    CHECK(f.value(0) == 5);
    CHECK(f.value(1) == 2);
}

TEST_CASE("ExprState: once forgotten, everything is news, constants stay") {
    Fixture f;
    f.use(f[0] * 2 + 3);
    f.build();
    f.replay(1, 1, 1);
    f.replay(1, 1, 1);
    f.state().forget(f.list().exprs());
    (void)f.evaluations();
    f.set(0, 1);
    REQUIRE(f.evaluate() == gj::detail::ExprFault::none);
    CHECK(f.evaluations() == 2);
    CHECK(f.changed(0));
    CHECK(f.value(0) == 5);
}

TEST_CASE("ExprState: over random replays, some refused, values are those of the Variables that were accepted") {
    Random random(1);
    for (int round = 0; round < 30; ++round) {
        Fixture f({-20, 20});
        std::vector<gj::Expr> parts{f[0], f[1], f[2], 1, -3};
        struct Node {
            gj::ExprOp op;
            std::size_t a, b;
        };
        std::vector<Node> nodes;
        // More than 64 expressions, so that the words of the waiting list are crossed.
        for (int i = 0; i < 120; ++i) {
            const auto a = random.below(static_cast<unsigned>(parts.size()));
            const auto b = random.below(static_cast<unsigned>(parts.size()));
            const gj::ExprOp ops[] = {gj::ExprOp::add, gj::ExprOp::subtract, gj::ExprOp::minimum, gj::ExprOp::maximum};
            const gj::ExprOp op = ops[random.below(4)];
            nodes.push_back({op, a, b});
            parts.push_back(f.let(gj::Expr::binary(op, parts[a], parts[b])));
        }
        std::vector<std::size_t> used;
        for (int i = 0; i < 20; ++i) {
            const std::size_t which = random.below(static_cast<unsigned>(parts.size()));
            if (parts[which].is_constant()) continue;
            used.push_back(which);
            f.use(parts[which]);
        }
        f.build();
        std::int64_t live[3] = {0, 0, 0};
        f.replay(0, 0, 0);
        for (int step = 0; step < 200; ++step) {
            std::int64_t next[3] = {live[0], live[1], live[2]};
            for (std::size_t v = 0; v < 3; ++v) {
                if (!random.chance(40)) continue;
                next[v] = random.between(-20, 20);
                f.set(v, next[v]);
            }
            const bool refused = random.chance(30);
            if (refused && random.chance(30)) {
                f.state().refuse();
                continue;
            }
            const gj::detail::ExprFault fault = f.evaluate();
            if (refused || fault != gj::detail::ExprFault::none) {
                f.state().refuse();
            } else {
                f.state().commit();
                for (std::size_t v = 0; v < 3; ++v) live[v] = next[v];
            }
            std::vector<std::int64_t> values{live[0], live[1], live[2], 1, -3};
            for (const Node& node : nodes) {
                values.push_back(gj::detail::evaluate(node.op, values[node.a], values[node.b]).value);
            }
            for (std::size_t i = 0; i < used.size(); ++i) REQUIRE(f.value(i) == values[used[i]]);
        }
    }
}

TEST_CASE("ExprState: allocates when it is built and never again") {
    Fixture f;
    f.use(f[0] + f[1] * f[2]);
    f.build();
    CHECK(allocations_needed([&] {
              gj::ExprState state;
              return state.build(f.list().exprs());
          }) == 3);
    const FailingAllocations failing(0);
    for (int i = 0; i < 100; ++i) f.replay(i, i % 3, i % 5);
    CHECK(failing.refused() == 0);
    CHECK(f.value(0) == 99);
}

}  // namespace
