// What is refused: by the recorder, when a graph is made, and by a replay. A refusal says which op and which slot, runs
// nothing, and the next good replay gives right values.
#include "support/kernels.hpp"
#include "support/recording_backend.hpp"
#include "support/ways.hpp"

#include <array>
#include <functional>
#include <limits>
#include <vector>

namespace {

using namespace test;
using gj::ErrorCode;
using Array4 = std::array<std::int32_t, 4>;

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

/// Where and by how much something is too large: "op 1 'large' 1001/1000", with the slot where there is one.
std::string excess(const gj::Status& status) {
    if (status.ok()) return "ok";
    const gj::Error error = status.error();
    CHECK(error.code == ErrorCode::dims_limit);
    CHECK(error.has_value);
    std::string line = "op " + std::to_string(to_integer(error.op)) + " '" + error.op_name.c_str() + "' ";
    if (!error.slot_name.empty()) line += error.slot_name.c_str() + std::string(" ");
    return line + std::to_string(error.value) + "/" + std::to_string(error.limit);
}

// --- while recording -------------------------------------------------------------------------------------------------

/// Takes the error out of a recorder: its code and the place it names, without the sentence between them.
std::string error_of(CpuRecorder& rec) {
    constexpr const char* names[] = {"ok",           "out_of_memory", "invalid_argument", "foreign_handle",
                                     "unbound",      "null_pointer",  "too_small",        "misaligned",
                                     "wrong_device", "out_of_range",  "overflow",         "division_by_zero",
                                     "dims_limit",   "overlap",       "unsupported",      "backend_failure"};
    const gj::Error error = rec.status().error();
    rec.clear_error();
    CHECK(rec.status().ok());
    CHECK(std::string(error.text).size() > 10);
    std::string line = names[static_cast<unsigned>(error.code)];
    if (error.op != gj::OpIndex::none)
        line += ": op " + std::to_string(to_integer(error.op)) + " '" + error.op_name.c_str() + "'";
    if (!error.slot_name.empty()) line += ": slot '" + std::string(error.slot_name.c_str()) + "'";
    return line;
}

void byte_value(gj::Out<std::int32_t>, std::int8_t) {}
void word_value(gj::Out<std::int32_t>, std::uint32_t) {}
void wide_value(gj::Out<std::int32_t>, std::uint64_t) {}
void with_dims(gj::Out<std::int32_t>, gj::LaunchDims) {}

TEST_CASE("memory without an address, or of no possible size, is refused by name") {
    CpuRecorder rec;
    std::int32_t x = 0;
    std::int32_t* const null = nullptr;
    (void)rec.buffer("nowhere", null, 4);
    CHECK(error_of(rec) == "invalid_argument: slot 'nowhere'");
    (void)rec.buffer("negative", &x, -1);
    CHECK(error_of(rec) == "invalid_argument: slot 'negative'");
    (void)rec.buffer("vast", &x, int64_max / 2);
    CHECK(error_of(rec) == "invalid_argument: slot 'vast'");
    (void)rec.input<std::int32_t>("negative input", -4);
    CHECK(error_of(rec) == "invalid_argument: slot 'negative input'");
    (void)rec.input<std::int32_t>("vast input", int64_max);
    CHECK(error_of(rec) == "invalid_argument: slot 'vast input'");

    const auto none = rec.buffer("of no bytes", null, 0);  // a token by another name
    CHECK(rec.launch(inc<0>, none) == op(0));
    CHECK(rec.launch(inc<0>, none) == op(1));
    CHECK(edges(std::move(rec).finish().value()) == "0>1");
}

TEST_CASE("a Variable whose range is empty, or whose first value lies outside, is refused by name") {
    CpuRecorder rec;
    Array4 a{};
    const auto buffer = rec.buffer("a", a);
    const auto empty = rec.variable("empty", {.min = 1, .max = 0});
    CHECK(error_of(rec) == "invalid_argument: slot 'empty'");
    (void)rec.variable("low", {.min = 1, .max = 3}, 0);
    CHECK(error_of(rec) == "invalid_argument: slot 'low'");
    (void)rec.variable("high", {.min = 1, .max = 3}, 4);
    CHECK(error_of(rec) == "invalid_argument: slot 'high'");

    CHECK(rec.launch("uses empty", fill<>, buffer, empty) == gj::OpIndex::none);
    CHECK(error_of(rec) == "foreign_handle: op 0 'uses empty'");
    const auto widest = rec.variable("widest", {.min = int64_min, .max = int64_max}, 5);
    CHECK(rec.launch(fill<>, buffer, widest % 7) == op(0));
    CHECK(rec.status().ok());
}

TEST_CASE("an Expr that cannot be right is refused by the op that uses it") {
    CpuRecorder rec, other;
    Array4 a{};
    const auto buffer = rec.buffer("a", a);
    const auto v = rec.variable("v", {.min = 0, .max = 9});
    const auto foreign = other.variable("foreign", {.min = 0, .max = 9});
    const auto refused = [&](const gj::Expr& expr) {
        CHECK(rec.launch("use", fill<>, buffer, expr) == gj::OpIndex::none);
        return error_of(rec);
    };
    gj::Expr sum = v;
    for (int i = 0; i < 7; ++i) sum = sum + v;
    CHECK(rec.launch("use", fill<>, buffer, sum) == op(0));  // eight operands are not too long
    CHECK(refused(sum + v) == "invalid_argument: op 1 'use'");
    CHECK(rec.launch("use", fill<>, buffer, rec.let(sum) + v) == op(1));
    CHECK(refused(v + foreign) == "foreign_handle: op 2 'use'");
    CHECK(refused(foreign * 2) == "foreign_handle: op 2 'use'");
    CHECK(refused(gj::Expr(int64_max) + 1) == "overflow: op 2 'use'");
    CHECK(refused(v + gj::Expr(std::uint64_t{1} << 63)) == "overflow: op 2 'use'");
    CHECK(refused(gj::Expr(1) / 0) == "division_by_zero: op 2 'use'");
    CHECK(refused(v + gj::Expr(1) % -1) == "division_by_zero: op 2 'use'");
    (void)rec.let(foreign + 1);
    CHECK(error_of(rec) == "foreign_handle");
}

TEST_CASE("handles of another recording, and those that were refused, are recognised") {
    CpuRecorder rec, other;
    Array4 a{}, b{};
    const auto mine = rec.buffer("a", a);
    const auto foreign = other.buffer("b", b);
    const auto foreign_input = other.input<std::int32_t>("in", 4);
    const auto foreign_slot = other.slot<std::int32_t>("v");
    const std::string memory = "foreign_handle: op 0 ";
    CHECK(rec.launch("kernel", fill<>, foreign, 1) == gj::OpIndex::none);
    CHECK(error_of(rec) == memory + "'kernel'");
    CHECK(rec.copy("copy", mine, foreign_input) == gj::OpIndex::none);
    CHECK(error_of(rec) == memory + "'copy'");
    CHECK(rec.fill("fill", foreign, 1) == gj::OpIndex::none);
    CHECK(error_of(rec) == memory + "'fill'");
    CHECK(rec.host_call("call", inc<>, mine, reads(foreign)) == gj::OpIndex::none);
    CHECK(error_of(rec) == memory + "'call'");
    CHECK(rec.launch("default", fill<>, gj::Buffer<std::int32_t>(), 1) == gj::OpIndex::none);
    CHECK(error_of(rec) == memory + "'default'");
    CHECK(rec.launch("value", fill<>, mine, foreign_slot) == gj::OpIndex::none);
    CHECK(error_of(rec) == "foreign_handle: op 0 'value'");
    rec.may_alias(mine, foreign);
    CHECK(error_of(rec) == "foreign_handle");
    const auto refused = rec.buffer("refused", a.data(), -1);
    (void)error_of(rec);
    CHECK(rec.launch("refused", fill<>, refused, 1) == gj::OpIndex::none);
    CHECK(error_of(rec) == memory + "'refused'");
    CHECK(rec.size() == 0);
}

TEST_CASE("a recorder that was moved from is a new recording: it takes no handle of the one that left") {
    Array4 a{}, b{};
    CpuRecorder first;
    const auto buffer_a = first.buffer("a", a);
    const auto v = first.variable("v", {.min = 0, .max = 9}, 1);
    first.launch(fill<>, buffer_a, 1);
    CpuRecorder second(std::move(first));
    const auto buffer_b = first.buffer("b", b);
    CHECK(first.launch(fill<>, buffer_a, 2) == gj::OpIndex::none);
    CHECK(first.status().code() == ErrorCode::foreign_handle);
    first.clear_error();
    CHECK(first.launch(fill<>, buffer_b, v) == gj::OpIndex::none);
    CHECK(first.status().code() == ErrorCode::foreign_handle);
    first.clear_error();
    first.launch(fill<>, buffer_b, 3);
    CHECK(second.launch(inc<>, buffer_b) == gj::OpIndex::none);
    CHECK(second.status().code() == ErrorCode::foreign_handle);
    second.clear_error();
    second.launch(inc<>, buffer_a);  // handles went with the recording
    const CpuList list_b = std::move(first).finish().value();
    CHECK(first.launch(fill<>, buffer_b, 4) == gj::OpIndex::none);  // and finish ends one
    CHECK(first.status().code() == ErrorCode::foreign_handle);
    first = std::move(second);
    first.launch(inc<>, buffer_a);
    const CpuList list_a = std::move(first).finish().value();
    CHECK(edges(list_a) == "0>1 1>2");
    CHECK(edges(list_b) == "");
    REQUIRE(as_graph(list_a).replay().ok());
    REQUIRE(as_graph(list_b).replay().ok());
    CHECK(text(a) == "3 3 3 3");
    CHECK(text(b) == "3 3 3 3");
}

TEST_CASE("a view outside its buffer is refused by the op that uses it, at every depth") {
    CpuRecorder rec;
    std::int32_t a[8] = {};
    const auto buffer = rec.buffer("a", a);
    const auto v = rec.variable("v", {.min = -4, .max = 12});
    const auto refused = [&](const auto& view) {
        CHECK(rec.launch("use", inc<1>, view) == gj::OpIndex::none);
        return error_of(rec);
    };
    const std::string outside = "invalid_argument: op 0 'use'";
    CHECK(refused(buffer.slice(-1, 1)) == outside);
    CHECK(refused(buffer.slice(0, 9)) == outside);
    CHECK(refused(buffer.slice(8, 1)) == outside);
    CHECK(refused(buffer.slice(0, -1)) == outside);
    CHECK(refused(buffer.slice(9, 0)) == outside);
    CHECK(refused(buffer.slice(1, int64_max)) == outside);
    CHECK(refused(buffer.slice(int64_max, 1)) == outside);
    CHECK(refused(buffer.slice(2, 4).slice(1, 4)) == outside);
    CHECK(refused(buffer.slice(0, 9).slice(0, 1)) == outside);
    CHECK(refused(buffer.as<std::int64_t>().slice(4, 1).as<std::int32_t>()) == outside);
    CHECK(refused(buffer.slice(gj::Expr(7), gj::Expr(2))) == outside);
    CHECK(refused(buffer.slice(gj::Expr(-1), gj::Expr(2))) == outside);
    const std::string always = "out_of_range: op 0 'use'";
    CHECK(refused(buffer.slice(v - 20, 1)) == always);
    CHECK(refused(buffer.slice(v + 13, 1)) == always);
    CHECK(refused(buffer.slice(0, v - 13)) == always);
    CHECK(refused(buffer.slice(0, v + 13)) == always);
    CHECK(rec.launch(inc<0>, buffer.slice(8, 0)) == op(0));  // nothing, at the end
    CHECK(rec.launch(inc<1>, buffer.slice(v, 1)) == op(1));  // may be right
}

TEST_CASE("memory registered as const is not written, through no kind of op") {
    CpuRecorder rec;
    const std::int32_t constant[4] = {};
    std::int32_t x[4] = {};
    const auto c = rec.buffer("c", constant);
    const auto in = rec.input<const std::int32_t>("in", 4);
    const auto v = rec.variable("v", {.min = 0, .max = 3});
    const auto buffer = rec.buffer("x", x);
    const std::string message = "invalid_argument: op 0 'use'";
    CHECK(rec.launch("use", inc<>, buffer, writes(c)) == gj::OpIndex::none);
    CHECK(error_of(rec) == message);
    CHECK(rec.launch("use", inc<>, buffer, updates(in)) == gj::OpIndex::none);
    CHECK(error_of(rec) == message);
    CHECK(rec.launch("use", inc<>, buffer, writes(c.slice(v, 1))) == gj::OpIndex::none);
    CHECK(error_of(rec) == message);
    CHECK(rec.launch("use", inc<>, buffer, reads(c), reads(in)) == op(0));
}

TEST_CASE("the ends of a copy have to agree in size, also where it is an Expr") {
    CpuRecorder rec;
    std::int32_t x[8] = {}, y[8] = {};
    const auto a = rec.buffer("x", x);
    const auto b = rec.buffer("y", y);
    const auto n = rec.variable("n", {.min = 0, .max = 4});
    const std::string message = "invalid_argument: op 0 'use'";
    CHECK(rec.copy("use", a.slice(0, 4), b.slice(0, 5)) == gj::OpIndex::none);
    CHECK(error_of(rec) == message);
    CHECK(rec.copy("use", a.slice(0, n), b.slice(0, n + 1)) == gj::OpIndex::none);
    CHECK(error_of(rec) == message);
    CHECK(rec.copy("use", a.slice(0, n), b.slice(0, 4)) == gj::OpIndex::none);
    CHECK(error_of(rec) == message);
    CHECK(rec.copy("use", a.slice(0, n), b.slice(n, n)) == op(0));
    CHECK(rec.copy("use", a.slice(3, 0), a.slice(3, 0)) == op(1));  // no bytes: cannot overlap
}

TEST_CASE("constants that do not fit their argument, and dims that do not fit a launch, are refused") {
    CpuRecorder rec;
    Array4 x{};
    const auto a = rec.buffer("x", x);
    const std::string fit = "out_of_range: op 0 'use'";
    for (const std::int64_t value : {std::int64_t{128}, std::int64_t{-129}, int64_max}) {
        CHECK(rec.launch("use", gj::kernel<byte_value>, a, gj::Expr(value)) == gj::OpIndex::none);
        CHECK(error_of(rec) == fit);
    }
    for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{1} << 32}) {
        CHECK(rec.launch("use", gj::kernel<word_value>, a, gj::Expr(value)) == gj::OpIndex::none);
        CHECK(error_of(rec) == fit);
    }
    CHECK(rec.launch("use", gj::kernel<wide_value>, a, gj::Expr(-1)) == gj::OpIndex::none);
    CHECK(error_of(rec) == fit);

    const auto refused = [&](const gj::LaunchExprs& dims) {
        CHECK(rec.launch("use", gj::kernel<with_dims>, dims, a) == gj::OpIndex::none);
        return error_of(rec);
    };
    const std::string dims = "dims_limit: op 0 'use'";
    CHECK(refused({.groups = {-1}}) == dims);
    CHECK(refused({.groups = {1, 1, std::int64_t{1} << 32}}) == dims);
    CHECK(refused({.group_size = {0}}) == dims);
    CHECK(refused({.group_size = {1, 0}}) == dims);
    CHECK(refused({.group_size = {1, 1, -5}}) == dims);
    CHECK(rec.launch(gj::kernel<byte_value>, a, gj::Expr(-128)) == op(0));
    CHECK(rec.launch(gj::kernel<word_value>, a, gj::Expr(0xffff'ffffu)) == op(1));
    CHECK(rec.launch(gj::kernel<with_dims>, {.groups = {0, 0xffff'ffffu}}, a) == op(2));
}

TEST_CASE("the first error stands until it is cleared, and finish returns it") {
    CpuRecorder rec;
    Array4 x{};
    const auto a = rec.buffer("x", x);
    rec.launch("good", fill<>, a, 1);
    rec.launch("first", fill<>, a.slice(2, 4), 1);
    rec.launch("second", fill<>, gj::Buffer<std::int32_t>(), 1);
    CHECK(rec.size() == 1);
    const gj::Result<CpuList> list = std::move(rec).finish();
    CHECK(list.code() == ErrorCode::invalid_argument);
    CHECK(lacks(list.status(), "op 1 'first'") == "");
    const gj::Result<CpuRunner::Graph> graph = gj::instantiate(std::move(rec));
    CHECK(graph.code() == ErrorCode::invalid_argument);
    rec.clear_error();
    CHECK(gj::instantiate(std::move(rec)).value().ops().size() == 1);
}

// --- when a graph is made --------------------------------------------------------------------------------------------

TEST_CASE("recorded dims beyond the backend's limits are refused when a graph is made, by each runner") {
    DeviceLog log;
    Array4 x{};
    const auto made = [&](const gj::LaunchExprs& dims) {
        log = DeviceLog();
        RecordingRecorder rec(RecordingBackend{&log});
        rec.launch("fine", fill<>, rec.buffer("x", x), 1);
        rec.launch("large", gj::kernel<with_dims>, dims, rec.buffer("x", x));
        const RecordingList list = std::move(rec).finish().value();
        const auto graph = gj::instantiate(list);
        const auto eager = gj::EagerRunner<RecordingBackend>::create(list);
        const auto adversary = gj::AdversarialRunner<RecordingBackend>::create(list, gj::AdversaryOptions{});
        CHECK(std::string(graph.message().c_str()) == eager.message().c_str());
        CHECK(std::string(graph.message().c_str()) == adversary.message().c_str());
        if (!graph.ok()) CHECK(log.count(Call::create) == 0);
        return excess(graph.status());
    };
    CHECK(made({.groups = {1001}}) == "op 1 'large' 1001/1000");
    CHECK(made({.groups = {1, 101}}) == "op 1 'large' 101/100");
    CHECK(made({.groups = {1, 1, 11}}) == "op 1 'large' 11/10");
    CHECK(made({.group_size = {65}}) == "op 1 'large' 65/64");
    CHECK(made({.group_size = {1, 9}}) == "op 1 'large' 9/8");
    CHECK(made({.group_size = {1, 1, 5}}) == "op 1 'large' 5/4");
    CHECK(made({.group_size = {64, 2, 2}}).find("/128") != std::string::npos);  // work-items of a group
    CHECK(made({.groups = {1000, 100, 10}, .group_size = {16, 8, 1}}) == "ok");
    CHECK(made({.groups = {0, 100, 10}, .group_size = {64, 2, 1}}) == "ok");
}

// --- by a replay -----------------------------------------------------------------------------------------------------

void take_byte(std::int32_t* out, std::int8_t value) { out[0] += value; }

/// A graph with one of everything that a replay can get wrong, and values that are right.
struct Everything {
    std::array<std::int32_t, 16> in_memory{}, out_memory{}, own{};
    std::array<std::int32_t, 4> target{};
    gj::Input<const std::int32_t> in;
    gj::Input<std::int32_t> out;
    gj::Variable at, size, groups, block, number, divisor, factor;
    gj::Slot<std::int32_t> k;
    CpuList list;

    Everything() {
        CpuRecorder rec;
        in = rec.input<const std::int32_t>("in", 16);
        out = rec.input<std::int32_t>("out", 16);
        at = rec.variable("at", {.min = -8, .max = 20}, 0);
        size = rec.variable("size", {.min = -4, .max = 8}, 2);
        groups = rec.variable("groups", {.min = -1, .max = int64_max}, 1);
        block = rec.variable("block", {.min = -1, .max = int64_max}, 2);
        number = rec.variable("number", {.min = -1000, .max = 1000}, 5);
        divisor = rec.variable("divisor", {.min = -2, .max = 4}, 1);
        factor = rec.variable("factor", {.min = 0, .max = int64_max}, 3);
        k = rec.slot<std::int32_t>("k", 1);
        const auto own_memory = rec.buffer("own", own);
        rec.launch("first", mix<>, out.slice(0, 4), in.slice(0, 4), k);
        rec.copy("shifted", own_memory.slice(at, 4), in.slice(4, 4));
        rec.fill("sized", out.slice(4, size), k);
        rec.launch("sized launch", iota, {.groups = {groups}, .group_size = {block}}, out.slice(8, 4));
        rec.launch("byte", gj::kernel<take_byte>, out.slice(12, 1), number);
        rec.launch("quotient", fill<1>, out.slice(13, 1), 12 / divisor);
        rec.launch("product", fill<1>, out.slice(14, 1), factor * 4 - factor * 3);
        list = std::move(rec).finish().value();
    }

    template <class Runner>
    void reset(Runner& graph) {
        for (unsigned i = 0; i < 16; ++i) in_memory[i] = static_cast<std::int32_t>(i);
        set_all(out_memory, poison);
        set_all(own, poison);
        graph.set(in, in_memory).set(out, out_memory).set(k, 1);
        graph.set(at, 0).set(size, 2).set(groups, 1).set(block, 2).set(number, 5).set(divisor, 1).set(factor, 3);
    }
    [[nodiscard]] bool untouched() const { return all_equal(out_memory, poison) && all_equal(own, poison); }
    /// What the values of `reset` give.
    [[nodiscard]] std::string right() const {
        const std::string out_text = text(out_memory);
        if (out_text != "1 4 7 10 1 1 -7 -7 1 2 -7 -7 -2 12 3 -7") return "out is " + out_text;
        const std::string own_text = text(own);
        if (own_text != "4 5 6 7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7") return "own is " + own_text;
        return "right";
    }
};

TEST_CASE("each thing a replay can get wrong is refused, nothing runs, and the next replay is right") {
    Everything e;
    in_all_ways(e.list, [&](CpuRunner& graph) {
        e.reset(graph);
        REQUIRE(replay_error(graph) == "");
        CHECK(e.right() == "right");

        alignas(8) std::array<std::int32_t, 17> shifted{};
        auto* const misaligned = reinterpret_cast<std::int32_t*>(reinterpret_cast<std::uintptr_t>(shifted.data()) + 2);
        const auto elsewhere = static_cast<gj::DeviceId>(3);
        constexpr std::int64_t unsaid = int64_min;
        struct Bad {
            ErrorCode code;
            const char* place;
            std::function<void()> spoil;
            std::int64_t value = unsaid;
            std::int64_t limit = unsaid;
        };
        const Bad all_bad[] = {
            {ErrorCode::null_pointer, "op 0 'first', slot 'in'", [&] { graph.set(e.in, nullptr); }},
            {ErrorCode::null_pointer, "op 0 'first', slot 'out'", [&] { graph.set(e.out, nullptr); }},
            {ErrorCode::misaligned, "op 0 'first', slot 'in'", [&] { graph.set(e.in, misaligned); },
             static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(misaligned)), 4},
            {ErrorCode::too_small, "op 1 'shifted', slot 'in'", [&] { graph.set(e.in, e.in_memory.data(), 7); }, 28,
             32},
            {ErrorCode::too_small, "op 1 'shifted', slot 'in'", [&] { graph.set(e.in, e.in_memory.data(), -1); }, -4,
             32},
            {ErrorCode::too_small, "op 1 'shifted', slot 'in'",
             [&] { graph.set(e.in, e.in_memory.data(), int64_min); }},
            {ErrorCode::too_small, "op 6 'product', slot 'out'", [&] { graph.set(e.out, e.out_memory.data(), 14); }, 56,
             60},
            {ErrorCode::wrong_device, "op 0 'first', slot 'in'",
             [&] { graph.set(e.in, e.in_memory.data(), 16, elsewhere); }, 3, 0},
            {ErrorCode::out_of_range, "op 1 'shifted', slot 'at'", [&] { graph.set(e.at, 21); }, 21, 20},
            {ErrorCode::out_of_range, "op 1 'shifted', slot 'at'", [&] { graph.set(e.at, -9); }, -9, -8},
            {ErrorCode::out_of_range, "op 1 'shifted', slot 'at'", [&] { graph.set(e.at, -1); }, -4, 48},
            {ErrorCode::out_of_range, "op 1 'shifted', slot 'at'", [&] { graph.set(e.at, 13); }, 52, 48},
            {ErrorCode::out_of_range, "op 2 'sized', slot 'size'", [&] { graph.set(e.size, -1); }},
            {ErrorCode::dims_limit, "op 3 'sized launch', slot 'groups'", [&] { graph.set(e.groups, -1); }, -1, 0},
            {ErrorCode::dims_limit, "op 3 'sized launch', slot 'groups'",
             [&] { graph.set(e.groups, std::int64_t{1} << 32); }, std::int64_t{1} << 32, 0xffff'ffff},
            {ErrorCode::dims_limit, "op 3 'sized launch', slot 'block'", [&] { graph.set(e.block, 0); }, 0, 1},
            {ErrorCode::dims_limit, "op 3 'sized launch', slot 'block'", [&] { graph.set(e.block, -1); }, -1, 1},
            {ErrorCode::out_of_range, "op 4 'byte', slot 'number'", [&] { graph.set(e.number, 128); }, 128, 127},
            {ErrorCode::out_of_range, "op 4 'byte', slot 'number'", [&] { graph.set(e.number, -129); }, -129, -128},
            {ErrorCode::division_by_zero, "op 5 'quotient', slot 'divisor'", [&] { graph.set(e.divisor, 0); }},
            {ErrorCode::division_by_zero, "op 5 'quotient', slot 'divisor'", [&] { graph.set(e.divisor, -2); }},
            {ErrorCode::overflow, "op 6 'product', slot 'factor'", [&] { graph.set(e.factor, int64_max / 3 + 1); }},
            {ErrorCode::out_of_range, "op 6 'product', slot 'factor'",
             [&] { graph.set(e.factor, std::int64_t{1} << 31); }, std::int64_t{1} << 31, (std::int64_t{1} << 31) - 1},
            {ErrorCode::overlap, "slot 'out'", [&] { graph.set(e.out, e.in_memory); }},
            {ErrorCode::foreign_handle, "", [&] { graph.set(gj::Slot<std::int32_t>(), 3); }},
            {ErrorCode::foreign_handle, "",
             [&] {
                 CpuRecorder other;
                 graph.set(other.input<std::int32_t>("in", 4), e.out_memory);
             }},
        };
        for (const Bad& bad : all_bad) {
            INFO(std::string(bad.place));
            // CUDA serves inputs that move to another device, and has other limits.
            const bool is_cuda = graph.way() == "as a CUDA graph";
            if (is_cuda && bad.code == ErrorCode::wrong_device) continue;
            e.reset(graph);
            graph.set(e.k, 9).set(e.number, 6);  // what is good about a refused replay must not arrive by itself
            bad.spoil();
            const gj::ReplayCounters before = graph.counters();
            const gj::Status refused = graph.replay();
            CHECK(refused.code() == bad.code);
            CHECK(lacks(refused, bad.place) == "");
            if (bad.value != unsaid) CHECK(refused.error().value == bad.value);
            if (bad.limit != unsaid && !is_cuda) CHECK(refused.error().limit == bad.limit);
            CHECK(e.untouched());
            CHECK(graph.counters().replays == before.replays);
            CHECK(graph.counters().patches == before.patches);
            if (bad.code != ErrorCode::foreign_handle) {  // that one is said once, since no slot holds the value
                CHECK(graph.replay().code() == bad.code);
                CHECK(e.untouched());
            }
            e.reset(graph);
            CHECK(replay_error(graph) == "");
            CHECK(e.right() == "right");
        }
    });
}

TEST_CASE("what a refused replay was given does not arrive later") {
    Array4 x{}, y{}, z{};
    CpuRecorder rec;
    const auto a = rec.variable("a", {.min = 0, .max = 9}, 1);
    const auto b = rec.variable("b", {.min = 0, .max = 9}, 1);
    const auto in = rec.input<std::int32_t>("in", 4);
    rec.launch(fill<>, rec.buffer("x", x), a * 10);
    rec.launch(fill<>, rec.buffer("y", y), a + b);
    rec.launch(fill<>, in, a);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        const auto values = [&] {
            return std::to_string(x[0]) + " " + std::to_string(y[1]) + " " + std::to_string(z[2]);
        };
        const auto replay = [&] {
            poison_all(x, y, z);
            return replay_error(graph);
        };
        graph.set(in, z);
        REQUIRE(replay() == "");
        CHECK(values() == "10 2 1");
        // `a` is good and seen first; then something else is refused; then `a` is what it was.
        graph.set(a, 2).set(b, 99);
        CHECK(replay() != "");
        CHECK(values() == "-7 -7 -7");
        graph.set(a, 1).set(b, 1);
        REQUIRE(replay() == "");
        CHECK(values() == "10 2 1");
        graph.set(a, 3).set(in, nullptr);
        CHECK(replay() != "");
        graph.set(a, 1).set(in, z);
        REQUIRE(replay() == "");
        CHECK(values() == "10 2 1");
        // A refused value that is then wanted does arrive.
        graph.set(a, 4).set(b, 99);
        CHECK(replay() != "");
        graph.set(b, 5);
        REQUIRE(replay() == "");
        CHECK(values() == "40 9 4");
    });
}

TEST_CASE("a buffer that a refused replay was given is not remembered when overlap is judged") {
    Array4 a{}, b{}, c{};
    CpuRecorder rec;
    const auto in0 = rec.input<std::int32_t>("in0", 4);
    const auto in1 = rec.input<std::int32_t>("in1", 4);
    const auto v = rec.variable("v", {.min = 0, .max = 9}, 1);
    rec.launch("left", fill<>, in0, 1);
    rec.launch("right", fill<>, in1, v);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        poison_all(a, b, c);
        REQUIRE(replay_error(graph.set(in0, a).set(in1, b)) == "");
        CHECK(graph.set(in0, b).replay().code() == ErrorCode::overlap);
        CHECK(replay_error(graph.set(in0, a)) == "");
        CHECK(graph.set(in0, c).set(v, 99).replay().code() == ErrorCode::out_of_range);
        graph.set(in0, a).set(v, 2);
        // in0 is back at a: that is where in1 must not go, while c is free again.
        CHECK(graph.set(in1, a).replay().code() == ErrorCode::overlap);
        poison_all(a, b, c);
        REQUIRE(replay_error(graph.set(in1, c)) == "");
        CHECK(text(a) == "1 1 1 1");
        CHECK(text(c) == "2 2 2 2");
        REQUIRE(replay_error(graph.set(in1, b)) == "");
        CHECK(text(b) == "2 2 2 2");
    });
}

TEST_CASE("new overlap is refused between slots, with memory, in part, and inside one op") {
    std::array<std::int32_t, 16> own{}, one{}, two{};
    CpuRecorder rec;
    const auto read = rec.input<const std::int32_t>("read", 8);
    const auto also_read = rec.input<const std::int32_t>("also read", 8);
    const auto written = rec.input<std::int32_t>("written", 8);
    const auto also_written = rec.input<std::int32_t>("also written", 8);
    const auto memory = rec.buffer("own", own);
    rec.launch("op0", mix<8>, written, read, 0);
    rec.launch("op1", mix<8>, also_written, also_read, 1);
    rec.launch("op2", mix<4>, memory.slice(0, 4), also_read.slice(4, 4), 2);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "");
    in_all_ways(list, [&](CpuRunner& graph) {
        std::array<std::int32_t, 16> r{}, s{}, w{}, v{};
        const auto reset = [&] {
            poison_all(own, one, two, w, v);
            set_all(r, 1);
            set_all(s, 2);
            graph.set(read, r).set(also_read, s).set(written, w).set(also_written, v);
        };
        const auto refused = [&](const char* slot) {
            const gj::Status status = graph.replay();
            CHECK(status.code() == ErrorCode::overlap);
            CHECK(lacks(status, std::string("slot '") + slot) == "");
            CHECK(all_equal(own, poison));
            CHECK(all_equal(w, poison));
            CHECK(all_equal(v, poison));
            reset();
        };
        reset();
        REQUIRE(replay_error(graph) == "");
        reset();
        graph.set(written, r);  // read and written by one op
        refused("written");
        graph.set(also_read, w);  // written by op0, read by op1 without order
        refused("also read");
        graph.set(also_read, w.data() + 7);  // one element of them
        refused("also read");
        graph.set(written, v);  // two writers without order
        refused("written");
        graph.set(written, own);  // a slot and registered memory: two writers
        refused("written");
        graph.set(also_read, own);  // op2 writes what op1 reads
        refused("also read");
        graph.set(read, own.data() + 3);  // op0 reads the last element that op2 writes
        refused("read");
        // What is shared but harmless is accepted.
        graph.set(also_read, r);  // two readers
        CHECK(replay_error(graph) == "");
        reset();
        graph.set(written, r.data() + 8);  // side by side
        CHECK(replay_error(graph) == "");
        reset();
        graph.set(read, own.data() + 4);  // memory that op2 does not write
        set_all(own, 3);
        CHECK(replay_error(graph) == "");
        CHECK(w[0] == 9);
    });
}

TEST_CASE("many slots that change at once are compared with each other too") {
    constexpr int count = 20;
    std::vector<std::array<std::int32_t, 4>> memory(2 * count);
    std::vector<gj::Input<std::int32_t>> inputs;
    CpuRecorder rec;
    for (int i = 0; i < count; ++i) inputs.push_back(rec.input<std::int32_t>("one of many", 4));
    for (int i = 0; i < count; ++i) rec.launch(fill<>, inputs[static_cast<unsigned>(i)], i);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (unsigned round = 0; round < 40; ++round) {
            for (auto& array : memory) set_all(array, poison);
            const unsigned twin = round % count;
            const unsigned other = (twin + 1 + round / 3 % (count - 1)) % count;
            const auto place = [&](unsigned i) { return &memory[(3 * i + round) % (2 * count)]; };
            for (unsigned i = 0; i < count; ++i) graph.set(inputs[i], *place(i));
            graph.set(inputs[twin], place(other)->data() + 3, 1);
            graph.set(inputs[twin], place(other)->data() + (round % 2 == 0 ? 3 : -3));
            CHECK(graph.replay().code() == ErrorCode::overlap);
            for (auto& array : memory) CHECK(all_equal(array, poison));
            graph.set(inputs[twin], *place(twin));
            REQUIRE(replay_error(graph) == "");
            for (unsigned i = 0; i < count; ++i) CHECK(all_equal(*place(i), static_cast<std::int32_t>(i)));
        }
    });
}

TEST_CASE("symbolic views of an input are checked against what was given, when either changes") {
    std::array<std::int32_t, 16> memory{};
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 16);
    const auto at = rec.variable("at", {.min = 0, .max = 16});
    const auto size = rec.variable("size", {.min = 0, .max = 16});
    rec.fill("part", in.slice(at, size), 1);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (int given = 0; given <= 16; ++given) {
            for (int first = 0; first <= 16; first += 3) {
                for (int count = 0; count <= 16; count += 4) {
                    set_all(memory, poison);
                    graph.set(in, memory.data(), given).set(at, first).set(size, count);
                    const gj::Status status = graph.replay();
                    const bool inside = first + count <= 16;
                    const bool enough = count == 0 || first + count <= given;
                    CHECK(status.ok() == (inside && enough));
                    if (!inside) {
                        CHECK(status.code() == ErrorCode::out_of_range);
                    } else if (!enough) {
                        CHECK(status.code() == ErrorCode::too_small);
                    }
                    for (int i = 0; i < 16; ++i) {
                        const bool filled = status.ok() && i >= first && i < first + count;
                        CHECK(memory[static_cast<unsigned>(i)] == (filled ? 1 : poison));
                    }
                }
            }
        }
    });
}

TEST_CASE("dims that replays change are checked against the backend's limits, alone and together") {
    DeviceLog log;
    std::array<std::int32_t, 4> x{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto g = rec.variable("g", {.min = 0, .max = 5000}, 1);
    const auto w = rec.variable("w", {.min = 0, .max = 5000}, 1);
    const auto h = rec.variable("h", {.min = 0, .max = 5000}, 1);
    rec.launch("sized", gj::kernel<with_dims>, {.groups = {1, g}, .group_size = {w, h, 2}}, rec.buffer("x", x));
    const RecordingList list = std::move(rec).finish().value();
    const auto check = [&](auto& graph) {
        const auto replay = [&](int groups, int width, int height) {
            graph.set(g, groups).set(w, width).set(h, height);
            return excess(graph.replay());
        };
        const auto in_group = [](const std::string& line) { return line.find("/128") != std::string::npos; };
        CHECK(replay(100, 64, 1) == "ok");
        CHECK(replay(101, 64, 1) == "op 0 'sized' g 101/100");
        CHECK(replay(100, 65, 1) == "op 0 'sized' w 65/64");
        CHECK(in_group(replay(100, 64, 2)));
        CHECK(replay(100, 32, 2) == "ok");
        CHECK(in_group(replay(100, 33, 2)));
        CHECK(replay(100, 1, 9) == "op 0 'sized' h 9/8");
        CHECK(replay(100, 8, 8) == "ok");
        CHECK(replay(100, 0, 8) == "op 0 'sized' w 0/1");
        CHECK(replay(0, 8, 8) == "ok");
    };
    auto graph = gj::instantiate(list).value();
    check(graph);
    auto eager = gj::EagerRunner<RecordingBackend>::create(list).value();
    check(eager);
    auto adversary = gj::AdversarialRunner<RecordingBackend>::create(list, gj::AdversaryOptions{}).value();
    check(adversary);
}

TEST_CASE("an op of no groups does nothing and keeps its place in the order") {
    std::array<std::int32_t, 8> x{};
    CpuRecorder rec;
    const auto n = rec.variable("n", {.min = 0, .max = 2}, 1);
    const auto buffer = rec.buffer("x", x);
    rec.launch(slow_fill<8>, buffer, 5);
    rec.launch(iota, {.groups = {n}, .group_size = {4}}, buffer);
    rec.launch(iota, {.groups = {0}, .group_size = {4}}, buffer);
    rec.launch(inc<8>, buffer);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2 2>3");
    in_all_ways(list, [&](CpuRunner& graph) {
        for (const int groups : {1, 0, 2, 0}) {
            set_all(x, poison);
            graph.set(n, groups);
            REQUIRE(replay_error(graph) == "");
            const char* expected[] = {"6 6 6 6 6 6 6 6", "2 3 4 5 6 6 6 6", "2 3 4 5 6 7 8 9"};
            CHECK(text(x) == expected[groups]);
        }
    });
}

TEST_CASE("each device call of a replay that fails is an error, and afterwards every value is sent again") {
    DeviceLog log;
    std::array<std::int32_t, 4> x{}, y{}, z{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in = rec.input<std::int32_t>("in", 4);
    const auto k = rec.slot<std::int32_t>("k", 1);
    const auto v = rec.variable("v", {.min = 0, .max = 100}, 1);
    rec.launch("a", fill<>, in, k);
    rec.launch("b", fill<>, rec.buffer("y", y), v);
    rec.launch("c", fill<>, rec.buffer("z", z), k);
    RecordingRunner graph = gj::instantiate(std::move(rec)).value();
    graph.set(in, x);
    REQUIRE(graph.replay().ok());
    for (std::uint32_t fail_at = 1; fail_at <= 4; ++fail_at) {
        poison_all(x, y, z);
        const auto step = static_cast<std::int32_t>(10 * fail_at);
        log.forget();
        log.fail_at = fail_at;
        graph.set(k, step).set(v, step + 1);
        const gj::Status failed = graph.replay();
        CHECK(failed.code() == ErrorCode::backend_failure);
        CHECK(lacks(failed, fail_at < 4 ? "update (719)" : "launch (719)") == "");
        CHECK(all_equal(x, poison));
        CHECK(all_equal(y, poison));
        CHECK(all_equal(z, poison));
        log.forget();
        log.fail_at = 0;
        REQUIRE(graph.replay().ok());  // without setting anything anew
        CHECK(log.count(Call::update) == (fail_at < 4 ? 3 : 0));
        CHECK(all_equal(x, step));
        CHECK(all_equal(y, step + 1));
        CHECK(all_equal(z, step));
        log.forget();
        REQUIRE(graph.replay().ok());
        CHECK(log.text() == "launch");
    }
    // The same, and then back to the values of before the failure.
    log.forget();
    log.fail_at = 2;
    graph.set(k, 77).set(v, 78);
    CHECK(!graph.replay().ok());
    log.forget();
    log.fail_at = 0;
    graph.set(k, 40).set(v, 41);
    REQUIRE(graph.replay().ok());
    CHECK(log.count(Call::update) == 3);
    CHECK(all_equal(x, 40));
    CHECK(all_equal(y, 41));
    CHECK(all_equal(z, 40));
}

}  // namespace
