#include <graphjit/record/recorder.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace test;
using gj::ErrorCode;
using Array4 = std::array<std::int32_t, 4>;

std::string name(gj::Span<const char> text) { return {text.begin(), text.end()}; }

/// Accesses of the last op, as "memory access begin-end".
std::string accesses(const CpuList& list, unsigned index) {
    const char* words[] = {"", "in", "out", "in_out"};
    std::string line;
    for (const gj::AccessRecord& access : list.accesses(op(index))) {
        if (!line.empty()) line += ", ";
        line += name(list.name(access.memory)) + ' ' + words[static_cast<unsigned>(access.access)] + ' ' +
                std::to_string(access.begin) + '-' + std::to_string(access.end);
    }
    return line;
}

void shift(std::int8_t, std::int32_t*) {}
void scale(double, float, bool, std::int32_t*) {}
struct Pair {
    float a;
    std::int32_t b;
};
void apply(Pair, std::int32_t*) {}

// --- Memory ----------------------------------------------------------------------------------------------------------

TEST_CASE("Recorder: memory is registered from arrays, containers and pointers, with its size and alignment") {
    std::int32_t plain[4] = {};
    std::vector<double> vector(7);
    const std::array<char, 5> constant{};
    CpuRecorder rec;
    const auto a = rec.buffer("a", plain);
    const auto b = rec.buffer("b", vector);
    const auto c = rec.buffer("c", constant, gj::DeviceId{2});
    const auto d = rec.buffer("d", plain + 1, 2);
    const auto e = rec.buffer("e", static_cast<float*>(nullptr), 0);
    CHECK(std::is_same_v<decltype(a), const gj::Buffer<std::int32_t>>);
    CHECK(std::is_same_v<decltype(b), const gj::Buffer<double>>);
    CHECK(std::is_same_v<decltype(c), const gj::Buffer<const char>>);
    CHECK(a.size() == 4);
    CHECK(b.size() == 7);
    CHECK(c.size() == 5);
    CHECK(d.size() == 2);
    CHECK(e.size() == 0);
    REQUIRE(rec.status().ok());
    const CpuList list = std::move(rec).finish().value();
    const gj::Span<const gj::MemoryRecord> memories = list.memories();
    REQUIRE(memories.size() == 5);
    CHECK(memories[0].address == reinterpret_cast<std::uintptr_t>(plain));
    CHECK(memories[1].bytes == 56);
    CHECK(memories[1].align == alignof(double));
    CHECK(!memories[1].is_const);
    CHECK(memories[2].is_const);
    CHECK(memories[2].device == gj::DeviceId{2});
    CHECK(memories[3].address == reinterpret_cast<std::uintptr_t>(plain + 1));
    CHECK(name(list.name(gj::MemoryIndex{3})) == "d");
}

TEST_CASE("Recorder: memory without an address or with a size that cannot be is refused") {
    std::int32_t plain[4] = {};
    const auto code = [&](auto register_in) {
        CpuRecorder rec;
        register_in(rec);
        return rec.status().code();
    };
    CHECK(code([&](CpuRecorder& rec) { (void)rec.buffer("a", plain, -1); }) == ErrorCode::invalid_argument);
    CHECK(code([&](CpuRecorder& rec) { (void)rec.buffer("a", plain, INT64_MAX / 2); }) == ErrorCode::invalid_argument);
    CHECK(code([&](CpuRecorder& rec) { (void)rec.buffer("a", static_cast<int*>(nullptr), 1); }) ==
          ErrorCode::invalid_argument);
    CHECK(code([&](CpuRecorder& rec) { (void)rec.buffer(nullptr, plain, -1); }) == ErrorCode::invalid_argument);
    CHECK(code([&](CpuRecorder& rec) { (void)rec.input<float>("a", -1); }) == ErrorCode::invalid_argument);
    CHECK(code([&](CpuRecorder& rec) { (void)rec.input<float>("a", INT64_MAX / 2); }) == ErrorCode::invalid_argument);
    CHECK(code([&](CpuRecorder& rec) { (void)rec.input<float>(nullptr, -1); }) == ErrorCode::invalid_argument);
    CHECK(code([&](CpuRecorder& rec) { (void)rec.input<float>("a", 0); }) == ErrorCode::ok);
}

TEST_CASE("Recorder: what was refused cannot be used, and the first error is the one that stays") {
    Array4 a{};
    CpuRecorder rec;
    const auto refused = rec.buffer("refused", a.data(), -1);
    const auto good = rec.buffer("good", a);
    CHECK(rec.launch(fill<>, refused, 1) == gj::OpIndex::none);
    CHECK(rec.launch(fill<>, good, 1) == op(0));
    CHECK(std::string(rec.status().message().c_str()) ==
          "graphjit: a buffer has no address, or a size that cannot be: slot 'refused'");
    CHECK(std::move(rec).finish().code() == ErrorCode::invalid_argument);
    rec.clear_error();
    CHECK(std::move(rec).finish().value().size() == 1);
}

// --- Launches --------------------------------------------------------------------------------------------------------

TEST_CASE("Recorder: a launch writes values, addresses and accesses") {
    std::int32_t plain[8] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("all", plain);
    CHECK(rec.launch(mix<>, all.slice(4, 4), all.slice(0, 4), 5) == op(0));
    CHECK(rec.launch("named", inc<>, all.slice(2, 4)) == op(1));
    CHECK(rec.launch(fill<>, nullptr, 1) == op(2));
    CHECK(rec.size() == 3);
    const CpuList list = std::move(rec).finish().value();
    CHECK(accesses(list, 0) == "all out 16-32, all in 0-16");
    CHECK(accesses(list, 1) == "all in_out 8-24");
    CHECK(accesses(list, 2) == "");
    CHECK(name(list.name(op(1))) == "named");
    std::int32_t* pointers[2] = {};
    std::int32_t k = 0;
    std::memcpy(&pointers[0], list.block(op(0)) + mix<>.info.arguments[0].offset, sizeof(void*));
    std::memcpy(&pointers[1], list.block(op(0)) + mix<>.info.arguments[1].offset, sizeof(void*));
    std::memcpy(&k, list.block(op(0)) + mix<>.info.arguments[2].offset, sizeof k);
    CHECK(pointers[0] == plain + 4);
    CHECK(pointers[1] == plain);
    CHECK(k == 5);
}

TEST_CASE("Recorder: values are converted to the kernel's own types") {
    Array4 a{};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    (void)rec.launch(gj::kernel<scale>, 3, 2.5, true, buffer);
    (void)rec.launch(gj::kernel<apply>, Pair{1.5f, 7}, buffer);
    const CpuList list = std::move(rec).finish().value();
    double as_double = 0;
    float as_float = 0;
    Pair pair{};
    std::memcpy(&as_double, list.block(op(0)), sizeof as_double);
    std::memcpy(&as_float, list.block(op(0)) + 8, sizeof as_float);
    std::memcpy(&pair, list.block(op(1)), sizeof pair);
    CHECK(as_double == 3.0);
    CHECK(as_float == 2.5f);
    CHECK(pair.a == 1.5f);
    CHECK(pair.b == 7);
}

TEST_CASE("Recorder: a constant Expr is checked like any other integer") {
    Array4 a{};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    CHECK(rec.launch(gj::kernel<shift>, gj::Expr(127), buffer) == op(0));
    CHECK(rec.launch(gj::kernel<shift>, gj::Expr(128), buffer) == gj::OpIndex::none);
    CHECK(rec.status().code() == ErrorCode::out_of_range);
    CHECK(rec.size() == 1);
}

TEST_CASE("Recorder: extra accesses are accesses, and no arguments") {
    Array4 a{}, b{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    const auto token = rec.token("t");
    const auto at = rec.variable("at", {.min = 0, .max = 1});
    (void)rec.launch(fill<>, buffer_a, 1, reads(buffer_b.slice(1, 2)), updates(token), writes(buffer_b.slice(at, 1)));
    const CpuList list = std::move(rec).finish().value();
    CHECK(accesses(list, 0) == "a out 0-16, b in 4-12, t in_out 0-0, b out 0-8");
    CHECK(list.uses().empty());
}

TEST_CASE("Recorder: dims are written behind the arguments, Variables among them are uses") {
    Array4 a{};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    const auto n = rec.variable("n", {.min = 1, .max = 9});
    (void)rec.launch(iota, {.groups = {2, 3}, .group_size = {.z = 4}}, buffer);
    (void)rec.launch("named", iota, {.groups = {ceil_div(n, 4)}, .group_size = {4}}, buffer);
    const CpuList list = std::move(rec).finish().value();
    gj::LaunchDims dims;
    std::memcpy(&dims, list.block(op(0)) + iota.info.dims_offset, sizeof dims);
    CHECK(dims.groups.x == 2);
    CHECK(dims.groups.y == 3);
    CHECK(dims.groups.z == 1);
    CHECK(dims.group_size.x == 1);
    CHECK(dims.group_size.z == 4);
    REQUIRE(list.uses().size() == 1);
    CHECK(list.uses()[0].dim == 0);
    CHECK(list.uses()[0].op == op(1));
    CHECK(list.uses()[0].offset == iota.info.dims_offset);
}

TEST_CASE("Recorder: host calls, copies and fills are ops of their own kind") {
    Array4 a{}, b{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    CHECK(rec.host_call(fill<>, buffer_a, 1) == op(0));
    CHECK(rec.host_call("call", fill<>, buffer_a, 1) == op(1));
    CHECK(rec.copy(buffer_a, buffer_b) == op(2));
    CHECK(rec.copy("copied", buffer_a, buffer_b) == op(3));
    CHECK(rec.fill(buffer_a, 7) == op(4));
    CHECK(rec.fill("filled", buffer_a.slice(1, 2), 7) == op(5));
    const CpuList list = std::move(rec).finish().value();
    CHECK(list.op(op(1)).kind == gj::OpKind::host_call);
    CHECK(list.op(op(3)).kind == gj::OpKind::copy);
    CHECK(list.op(op(5)).kind == gj::OpKind::fill);
    CHECK(name(list.name(op(1))) == "call");
    CHECK(name(list.name(op(2))) == "copy");
    CHECK(name(list.name(op(3))) == "copied");
    CHECK(name(list.name(op(5))) == "filled");
    CHECK(accesses(list, 3) == "a out 0-16, b in 0-16");
    CHECK(accesses(list, 5) == "a out 4-12");
    gj::FillBlock block;
    std::memcpy(&block, list.block(op(5)), sizeof block);
    CHECK(block.bytes == 8);
    CHECK(block.pattern_bytes == 4);
    std::int32_t pattern = 0;
    std::memcpy(&pattern, block.pattern, sizeof pattern);
    CHECK(pattern == 7);
    CHECK(reinterpret_cast<std::int32_t*>(block.destination) == a.data() + 1);
}

TEST_CASE("Recorder: slots of every kind are uses of the ops they go into") {
    Array4 a{};
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 4);
    const auto number = rec.slot<std::int32_t>("number", 3);
    const auto unset = rec.slot<Pair>("pair");
    const auto at = rec.variable("at", {.min = 0, .max = 2}, 1);
    const auto buffer = rec.buffer("a", a);
    (void)rec.launch(mix<>, buffer, in, number);
    (void)rec.launch(gj::kernel<apply>, unset, buffer);
    (void)rec.launch(gj::kernel<shift>, at * 2, buffer);
    (void)rec.fill(buffer.slice(at, 2), number);
    const CpuList list = std::move(rec).finish().value();
    using gj::UseKind;
    const UseKind kinds[] = {UseKind::pointer,          UseKind::value, UseKind::value, UseKind::integer,
                             UseKind::symbolic_pointer, UseKind::value};
    const unsigned ops[] = {0, 0, 1, 2, 3, 3};
    REQUIRE(list.uses().size() == 6);
    for (unsigned i = 0; i < 6; ++i) {
        CAPTURE(i);
        CHECK(list.uses()[i].kind == kinds[i]);
        CHECK(list.uses()[i].op == op(ops[i]));
    }
    CHECK(list.slot(number.slot()).has_initial);
    CHECK(!list.slot(unset.slot()).has_initial);
    CHECK(list.slot(at.slot()).has_initial);
    CHECK(list.slot(at.slot()).initial == 1);
    CHECK(list.slot(in.slot()).kind == gj::SlotKind::input);
    CHECK(name(list.name(at.slot())) == "at");
}

TEST_CASE("Recorder: nothing that is handed over is kept by reference") {
    Array4 a{};
    CpuRecorder rec;
    {
        std::string op_name = "an op";
        std::string buffer_name = "a buffer";
        std::int32_t k = 5;
        const auto buffer = rec.buffer(buffer_name.c_str(), a);
        (void)rec.launch(op_name.c_str(), fill<>, buffer, k);
        op_name.assign(op_name.size(), '#');
        buffer_name.assign(buffer_name.size(), '#');
        k = 6;
    }
    const CpuList list = std::move(rec).finish().value();
    CHECK(name(list.name(op(0))) == "an op");
    CHECK(name(list.name(gj::MemoryIndex{0})) == "a buffer");
    std::int32_t k = 0;
    std::memcpy(&k, list.block(op(0)) + fill<>.info.arguments[1].offset, sizeof k);
    CHECK(k == 5);
}

TEST_CASE("Recorder: names are texts of any kind, sizes integers of any type") {
    std::int32_t plain[8] = {};
    const std::string text = "a name, and more of it than fits in place";
    CpuRecorder rec;
    const auto all = rec.buffer(text, plain, std::size_t{8});
    const auto in = rec.input<std::int32_t>(std::string_view(text).substr(2, 4), 4u);
    (void)rec.launch(text + "!", fill<>, all.slice(0, 4), 1);
    (void)rec.host_call(std::string("call"), fill<>, all.slice(0, 4), 1);
    (void)rec.copy(std::string("copy it"), all.slice(0, 4), in);
    (void)rec.fill(std::string("fill it"), all.slice(0, 4), 1);
    (void)rec.buffer("too large", plain, std::size_t{0} - 1);
    CHECK(rec.status().code() == ErrorCode::invalid_argument);
    rec.clear_error();
    const CpuList list = std::move(rec).finish().value();
    CHECK(name(list.name(gj::MemoryIndex{0})) == text);
    CHECK(name(list.name(gj::MemoryIndex{1})) == "name");
    CHECK(name(list.name(op(0))) == text + "!");
    CHECK(name(list.name(op(1))) == "call");
    CHECK(name(list.name(op(2))) == "copy it");
    CHECK(name(list.name(op(3))) == "fill it");
}

// --- let -------------------------------------------------------------------------------------------------------------

TEST_CASE("Recorder: let keeps a part, so that an expression can be longer than eight operands") {
    Array4 a{};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    const auto x = rec.variable("x", {.min = 1, .max = 2});
    gj::Expr sum = x;
    for (int i = 0; i < 100; ++i) sum = rec.let(sum + x);
    CHECK(sum.valid());
    CHECK(rec.launch(fill<>, buffer, sum) == op(0));
    CHECK(rec.let(7).is_constant());
    CHECK(rec.let(gj::Expr(3) + 4).constant() == 7);
    CHECK(rec.status().ok());
    const CpuList list = std::move(rec).finish().value();
    const gj::ExprNode& node = list.exprs()[list.uses()[0].expr];
    CHECK(node.bounds.min == 101);
    CHECK(node.bounds.max == 202);
}

TEST_CASE("Recorder: let refuses what an op would refuse") {
    CpuRecorder rec;
    CpuRecorder other;
    const auto x = rec.variable("x", {.min = 1, .max = 2});
    const auto theirs = other.variable("y", {.min = 1, .max = 2});
    const auto code = [&](const gj::Expr& expr) {
        rec.clear_error();
        (void)rec.let(expr);
        return rec.status().code();
    };
    CHECK(code(x + theirs) == ErrorCode::foreign_handle);
    CHECK(code(theirs) == ErrorCode::foreign_handle);
    CHECK(code(x + x + x + x + x + x + x + x + x) == ErrorCode::invalid_argument);
    CHECK(code(x / (gj::Expr(1) - 1) * (gj::Expr(1) / 0)) == ErrorCode::division_by_zero);
    CHECK(code(x + 1) == ErrorCode::ok);
}

// --- Refusals --------------------------------------------------------------------------------------------------------

/// Everything that ops hold in a list, so that two can be compared.
std::string contents(const CpuList& list) {
    std::string all;
    for (unsigned i = 0; i < list.size(); ++i) {
        all += name(list.name(op(i))) + ' ' + accesses(list, i) + ' ' + std::to_string(list.op(op(i)).block) + ' ' +
               std::to_string(list.op(op(i)).first_access) + '\n';
    }
    for (const gj::Use& use : list.uses()) {
        all += std::to_string(to_integer(use.op)) + ' ' + std::to_string(use.offset) + ' ' +
               std::to_string(to_integer(use.slot)) + '\n';
    }
    all.append(reinterpret_cast<const char*>(list.blocks().data()), list.blocks().size());
    return all + std::to_string(list.aliases().size());
}

TEST_CASE("Recorder: a verb that is given something wrong says what, and records nothing") {
    static std::int32_t memory[16] = {};
    static const std::int32_t constant[4] = {};
    struct Handles {
        gj::Buffer<std::int32_t> all;
        gj::Buffer<const std::int32_t> constant;
        gj::Input<std::int32_t> in;
        gj::Variable at;
        gj::Slot<std::int32_t> number;
    };
    CpuRecorder other;
    const auto foreign_buffer = other.buffer("foreign", memory);
    const auto foreign_input = other.input<std::int32_t>("foreign", 4);
    const auto foreign_variable = other.variable("foreign", {.min = 0, .max = 3});
    const auto foreign_slot = other.slot<std::int32_t>("foreign");

    using Refused = gj::OpIndex (*)(CpuRecorder&, const Handles&, decltype(foreign_buffer)&, decltype(foreign_input)&,
                                    decltype(foreign_variable)&, decltype(foreign_slot)&);
#define REFUSED(verb)                                                                                                  \
    [](CpuRecorder& rec, [[maybe_unused]] const Handles& h, [[maybe_unused]] decltype(foreign_buffer)& buffer,         \
       [[maybe_unused]] decltype(foreign_input)& input, [[maybe_unused]] decltype(foreign_variable)& variable,         \
       [[maybe_unused]] decltype(foreign_slot)& slot) { return rec.verb; }
    const struct {
        ErrorCode code;
        Refused verb;
    } cases[] = {
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, buffer.slice(0, 4), 1))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, input, 1))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, h.in, slot))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, h.in, variable + 1))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, h.in, h.at + variable))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, h.all.slice(variable, 4), 1))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, h.in, 1, reads(buffer)))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, gj::Buffer<std::int32_t>(), 1))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, gj::Input<std::int32_t>(), 1))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, h.in, gj::Slot<std::int32_t>()))},
        {ErrorCode::foreign_handle, REFUSED(launch("op", fill<>, h.in, gj::Variable()))},
        {ErrorCode::foreign_handle, REFUSED(copy("op", h.in, buffer.slice(0, 4)))},
        {ErrorCode::foreign_handle, REFUSED(copy("op", buffer.slice(0, 4), h.in))},
        {ErrorCode::foreign_handle, REFUSED(fill("op", buffer, 1))},
        {ErrorCode::foreign_handle, REFUSED(fill("op", h.in, slot))},
        {ErrorCode::foreign_handle, REFUSED(host_call("op", test::fill<>, input, 1))},
        {ErrorCode::invalid_argument, REFUSED(launch("op", fill<>, h.all.slice(13, 4), 1))},
        {ErrorCode::invalid_argument, REFUSED(launch("op", fill<>, h.all.slice(-1, 4), 1))},
        {ErrorCode::invalid_argument, REFUSED(launch("op", fill<>, h.in.slice(1, 4), 1))},
        {ErrorCode::invalid_argument, REFUSED(launch("op", fill<>, h.in.slice(1, 4).slice(0, 0), 1))},
        {ErrorCode::invalid_argument, REFUSED(launch("op", fill<>, h.all.slice(0, 17).slice(h.at, 4), 1))},
        {ErrorCode::invalid_argument, REFUSED(fill("op", h.all.slice(0, 17), 1))},
        {ErrorCode::invalid_argument, REFUSED(launch("op", fill<>, h.in, 1, writes(h.constant)))},
        {ErrorCode::invalid_argument, REFUSED(launch("op", fill<>, h.in, 1, updates(h.constant.slice(h.at, 1))))},
        {ErrorCode::invalid_argument, REFUSED(copy("op", h.all.slice(0, 4), h.in.slice(0, 3)))},
        {ErrorCode::invalid_argument, REFUSED(copy("op", h.all.slice(0, h.at), h.in.slice(0, h.at + 1)))},
        {ErrorCode::invalid_argument, REFUSED(launch("op", fill<>, h.in, h.at + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1))},
        {ErrorCode::overlap, REFUSED(copy("op", h.all.slice(0, 4), h.all.slice(3, 4)))},
        {ErrorCode::out_of_range, REFUSED(launch("op", fill<>, h.all.slice(h.at + 16, 4), 1))},
        {ErrorCode::out_of_range, REFUSED(launch("op", fill<>, h.all.slice(h.at, 17), 1))},
        {ErrorCode::out_of_range, REFUSED(launch("op", gj::kernel<shift>, gj::Expr(1000), h.in))},
        {ErrorCode::out_of_range, REFUSED(fill("op", h.all, gj::Expr(INT64_MAX)))},
        {ErrorCode::overflow, REFUSED(launch("op", fill<>, h.in, h.at + (gj::Expr(INT64_MAX) + 1)))},
        {ErrorCode::overflow, REFUSED(launch("op", fill<>, h.all.slice(gj::Expr(INT64_MAX), 1), 1))},
        {ErrorCode::division_by_zero, REFUSED(launch("op", fill<>, h.in, h.at * (gj::Expr(1) % 0)))},
        {ErrorCode::dims_limit, REFUSED(launch("op", iota, {.groups = {-1}}, h.in))},
        {ErrorCode::dims_limit, REFUSED(launch("op", iota, {.groups = {1}, .group_size = {0}}, h.in))},
        {ErrorCode::dims_limit, REFUSED(launch("op", iota, {.groups = {1, 1, std::int64_t{1} << 32}}, h.in))},
    };
#undef REFUSED

    const auto record = [&](const std::vector<const void*>& refused) {
        CpuRecorder rec;
        Handles handles;
        handles.all = rec.buffer("all", memory);
        handles.constant = rec.buffer("constant", constant);
        handles.in = rec.input<std::int32_t>("in", 4);
        handles.at = rec.variable("at", {.min = 0, .max = 3});
        handles.number = rec.slot<std::int32_t>("number");
        CHECK(rec.launch("before", fill<>, handles.all.slice(handles.at, 4), handles.number) == op(0));
        for (const void* which : refused) {
            const auto& wrong = *static_cast<decltype(&cases[0])>(which);
            CAPTURE(&wrong - cases);
            CHECK(wrong.verb(rec, handles, foreign_buffer, foreign_input, foreign_variable, foreign_slot) ==
                  gj::OpIndex::none);
            CHECK(rec.size() == 1);
            CHECK(rec.status().code() == wrong.code);
            CHECK(rec.status().error().op == op(1));
            CHECK(std::string(rec.status().error().op_name.c_str()) == "op");
            CHECK(std::strlen(rec.status().error().text) > 10);
            rec.clear_error();
        }
        CHECK(rec.launch("after", mix<>, handles.in, handles.all.slice(0, 4), handles.at) == op(1));
        return contents(std::move(rec).finish().value());
    };
    const std::string clean = record({});
    std::vector<const void*> all;
    for (const auto& wrong : cases) {
        CAPTURE(&wrong - cases);
        CHECK(record({&wrong}) == clean);
        all.push_back(&wrong);
    }
    CHECK(record(all) == clean);
}

TEST_CASE("Recorder: an alias of what is not of this recording is refused") {
    Array4 a{};
    CpuRecorder rec;
    CpuRecorder other;
    const auto mine = rec.buffer("a", a);
    const auto theirs = other.input<std::int32_t>("in", 4);
    rec.may_alias(mine, theirs);
    CHECK(rec.status().code() == ErrorCode::foreign_handle);
    rec.clear_error();
    rec.may_alias(theirs, mine);
    CHECK(rec.status().code() == ErrorCode::foreign_handle);
    rec.clear_error();
    rec.may_alias(mine, mine.slice(0, 5));
    CHECK(rec.status().code() == ErrorCode::invalid_argument);
}

TEST_CASE("Recorder: a Variable with an empty range is refused, and so is what uses it") {
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 4);
    const auto bad = rec.variable("bad", {.min = 3, .max = 2});
    CHECK(rec.status().code() == ErrorCode::invalid_argument);
    CHECK(std::string(rec.status().error().slot_name.c_str()) == "bad");
    rec.clear_error();
    CHECK(rec.launch(fill<>, in, bad) == gj::OpIndex::none);
    CHECK(rec.status().code() == ErrorCode::foreign_handle);
    rec.clear_error();
    (void)rec.variable("worse", {.min = 0, .max = 2}, 3);
    CHECK(rec.status().code() == ErrorCode::invalid_argument);
    rec.clear_error();
    const auto good = rec.variable("good", {.min = 2, .max = 2}, 2);
    CHECK(rec.launch(fill<>, in, good) == op(0));
}

// --- Ends ------------------------------------------------------------------------------------------------------------

TEST_CASE("Recorder: finished a second time there is nothing left, and the old handles are foreign") {
    Array4 a{};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    (void)rec.launch(fill<>, buffer, 1);
    CHECK(std::move(rec).finish().value().size() == 1);
    CHECK(std::move(rec).finish().value().size() == 0);  // NOLINT(bugprone-use-after-move)
    CHECK(rec.size() == 0);
    CHECK(rec.launch(fill<>, buffer, 1) == gj::OpIndex::none);
    CHECK(rec.status().code() == ErrorCode::foreign_handle);
    rec.clear_error();
    CHECK(rec.launch(fill<>, rec.buffer("a", a), 1) == op(0));
}

TEST_CASE("Recorder: an error keeps the recording, so that it can be cleared and finished") {
    Array4 a{};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    (void)rec.launch(fill<>, buffer, 1);
    (void)rec.launch(fill<>, buffer.slice(1, 4), 1);
    const gj::Result<CpuList> refused = std::move(rec).finish();
    CHECK(refused.code() == ErrorCode::invalid_argument);
    CHECK(rec.size() == 1);  // NOLINT(bugprone-use-after-move)
    rec.clear_error();
    CHECK(std::move(rec).finish().value().size() == 1);
}

TEST_CASE("Recorder: a moved recording goes on where it was") {
    Array4 a{};
    CpuRecorder first;
    const auto buffer = first.buffer("a", a);
    (void)first.launch(fill<>, buffer, 1);
    CpuRecorder second = std::move(first);
    CHECK(second.launch(inc<>, buffer) == op(1));
    CHECK(edges(std::move(second).finish().value()) == "0>1");
    CHECK(first.launch(inc<>, buffer) == gj::OpIndex::none);  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("Recorder: where memory runs out, whenever, finish says so, and never gives half a recording") {
    static std::int32_t memory[16] = {};
    const int needed = allocations_needed([] {
        CpuRecorder rec;
        const auto all = rec.buffer("all", memory);
        const auto in = rec.input<std::int32_t>("in", 4);
        const auto token = rec.token("token");
        const auto at = rec.variable("at", {.min = 0, .max = 3}, 1);
        const auto number = rec.slot<std::int32_t>("number", 5);
        rec.may_alias(in, all);
        const auto kept = rec.let(at + 2);
        (void)rec.launch("first", fill<>, all.slice(at, 4), number, reads(token));
        (void)rec.launch(iota, {.groups = {kept * 2}}, all);
        (void)rec.copy("copy", all.slice(4, 4), in);
        (void)rec.fill("fill", all.slice(8, at), at * 5);
        (void)rec.host_call("call", inc<>, in);
        gj::Result<CpuList> list = std::move(rec).finish();
        if (list.ok()) {
            CHECK(list->size() == 5);
            CHECK(name(list->name(op(4))) == "call");
        } else {
            CHECK(list.code() == ErrorCode::out_of_memory);
        }
        return list.ok();
    });
    CHECK(needed > 8);
}

}  // namespace
