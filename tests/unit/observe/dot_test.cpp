#include <graphjit/observe/dot.hpp>

#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace test;

template <class List>
std::string dot(const List& list) {
    std::string out;
    gj::write_dot(list, plan_of(list), [&](const char* data, std::size_t size) { out.append(data, size); });
    return out;
}
bool contains(const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; }

/// Whether Graphviz draws it without a word; true as well where there is no Graphviz.
bool can_be_drawn(const std::string& dot) {
#if defined(__unix__)
    if (std::system("command -v dot >/dev/null 2>&1") != 0) {
        MESSAGE("no Graphviz here");
        return true;
    }
    // `dot` warns of what it does not understand, and goes on.
    FILE* pipe = popen("test -z \"$(dot -Tsvg 2>&1 >/dev/null)\"", "w");
    if (pipe == nullptr) return false;
    const bool written = std::fwrite(dot.data(), 1, dot.size(), pipe) == dot.size();
    return pclose(pipe) == 0 && written;
#else
    return !dot.empty();
#endif
}

TEST_CASE("dot: a box per op and an arrow per edge, with its hazards and bytes") {
    std::int32_t memory[8] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("memory", memory);
    const auto in = rec.input<std::int32_t>("in", 4);
    rec.may_alias(in, all);
    (void)rec.launch("first", fill<>, all.slice(0, 4), 1);
    rec.on(gj::DeviceId{2});
    (void)rec.copy(all.slice(4, 4), all.slice(0, 4));
    (void)rec.fill("third", all.slice(4, 4), 1);
    (void)rec.host_call(inc<>, in);
    const CpuList list = std::move(rec).finish().value();
    const std::string out = dot(list);
    CHECK(contains(out, "digraph"));
    CHECK(contains(out, "op0 [label=\"0 first\\ndevice 0\", style=\"solid\"];\n"));
    CHECK(contains(out, "op1 [label=\"1 copy\\ndevice 2\", style=\"rounded\"];\n"));
    CHECK(contains(out, "op2 [label=\"2 third\\ndevice 2\", style=\"dashed\"];\n"));
    CHECK(contains(out, "style=\"bold\"];\n"));
    CHECK(contains(out, "op0 -> op1 [label=\"RAW memory[0:16]\"];\n"));
    CHECK(contains(out, "op1 -> op2 [label=\"WAW memory[16:32]\"];\n"));
    CHECK(contains(out, "op2 -> op3 [label=\"RAW memory (may alias)\\nWAW memory (may alias)\"];\n"));
    CHECK(!contains(out, "op0 -> op2"));
    CHECK(can_be_drawn(out));
}

TEST_CASE("dot: an empty graph is a picture, too") {
    CpuRecorder rec;
    const std::string out = dot(std::move(rec).finish().value());
    CHECK(contains(out, "digraph"));
    CHECK(!contains(out, "->"));
    CHECK(can_be_drawn(out));
}

TEST_CASE("dot: names may hold anything that a text can") {
    std::int32_t memory[4] = {};
    const char* names[] = {"\"quoted\"",  "back\\slash",    "ends\\",    "line\nbreak\ttab\r",
                           "<b>html</b>", "{record|field}", "\\N\\G\\l", "",
                           "&amp; &",     "\x01\x1f\x7f",   "ümläut €",  "]; op9 [x"};
    CpuRecorder rec;
    for (const char* name : names) (void)rec.launch(name, inc<>, rec.buffer(name, memory));
    const std::string out = dot(std::move(rec).finish().value());
    CHECK(contains(out, "0 \\\"quoted\\\"\\n"));
    CHECK(contains(out, "1 back\\\\slash\\n"));
    CHECK(contains(out, "2 ends\\\\\\n"));
    CHECK(contains(out, "3 line break tab \\n"));
    CHECK(contains(out, "6 \\\\N\\\\G\\\\l\\n"));
    std::size_t lines = 0;
    for (const char c : out) {
        lines += c == '\n' ? 1u : 0u;
        CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
    }
    CHECK(lines == 5 + 12 + 11);  // a line each: five around them, twelve ops, eleven edges
    CHECK(can_be_drawn(out));
}

TEST_CASE("dot: a large graph with many reasons per edge can be drawn") {
    std::int32_t memory[64] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("all", memory);
    for (int i = 0; i < 60; ++i) {
        (void)rec.launch(add<>, all.slice(i * 7 % 60, 4), all.slice(i * 11 % 60, 4), all.slice(i * 13 % 60, 4),
                         updates(all.slice(i * 17 % 60, 4)));
    }
    CHECK(can_be_drawn(dot(std::move(rec).finish().value())));
}

}  // namespace
