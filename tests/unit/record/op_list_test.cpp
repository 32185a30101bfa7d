#include <graphjit/record/op_list.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace test;

std::string name(gj::Span<const char> text) { return {text.begin(), text.end()}; }

/// One of everything a recording can hold.
CpuList everything() {
    static std::int32_t memory[16] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("memory", memory);
    const auto in = rec.input<std::int32_t>("in", 4);
    const auto number = rec.slot<std::int32_t>("number", 5);
    const auto at = rec.variable("at", {.min = 0, .max = 3}, 1);
    const auto token = rec.token("token");
    rec.may_alias(in, all);
    rec.launch("first", fill<>, all.slice(at * 4, 4), number, reads(token));
    rec.launch(inc<>, in);
    rec.copy("third", all.slice(4, 4), in);
    rec.fill(all.slice(8, 4), at + 7);
    rec.host_call(fill<16>, all, 1);
    return std::move(rec).finish().value();
}

TEST_CASE("OpList: an op is called what the user says, else what its kernel is called") {
    const CpuList list = everything();
    REQUIRE(list.size() == 5);
    CHECK(name(list.name(op(0))) == "first");
    CHECK(name(list.name(op(2))) == "third");
    CHECK(name(list.name(op(3))) == "fill");
    CHECK(name(list.name(gj::SlotIndex{0})) == "in");
    CHECK(name(list.name(gj::MemoryIndex{0})) == "memory");
    CHECK(list.text(gj::TextRef{}).empty());
}

TEST_CASE("OpList: tells of each op what it is and touches") {
    const CpuList list = everything();
    CHECK(list.op(op(0)).kind == gj::OpKind::kernel);
    CHECK(list.op(op(2)).kind == gj::OpKind::copy);
    CHECK(list.op(op(3)).kind == gj::OpKind::fill);
    CHECK(list.op(op(4)).kind == gj::OpKind::host_call);
    REQUIRE(list.accesses(op(0)).size() == 2);
    CHECK(list.accesses(op(0))[0].access == gj::Access::out);
    CHECK(list.accesses(op(0))[1].access == gj::Access::in);
    CHECK(list.accesses(op(1)).size() == 1);
    CHECK(list.accesses(op(2)).size() == 2);
    CHECK(list.accesses(op(3)).size() == 1);
    CHECK(list.aliases().size() == 1);
    CHECK(list.slots().size() == 3);
    CHECK(list.memories().size() == 3);
}

TEST_CASE("OpList: every block is aligned as its op needs, and none meets another") {
    const CpuList list = everything();
    std::uint32_t end = 0;
    for (unsigned i = 0; i < list.size(); ++i) {
        const gj::OpRecord& record = list.op(op(i));
        CHECK(record.block % record.info->block_align == 0);
        CHECK(record.block >= end);
        end = record.block + record.info->block_bytes;
        CHECK(list.block(op(i)) == list.blocks().data() + record.block);
    }
    CHECK(end == list.blocks().size());
}

TEST_CASE("OpList: an error made by it names op and slot") {
    const CpuList list = everything();
    const auto message = [&](gj::OpIndex op, gj::SlotIndex slot) {
        return std::string(list.error(gj::ErrorCode::overlap, "text", op, slot).message().c_str());
    };
    CHECK(message(op(2), gj::SlotIndex{1}) == "graphjit: text: op 2 'third', slot 'number'");
    CHECK(message(op(3), gj::SlotIndex::none) == "graphjit: text: op 3 'fill'");
    CHECK(message(gj::OpIndex::none, gj::SlotIndex{2}) == "graphjit: text: slot 'at'");
    CHECK(message(gj::OpIndex::none, gj::SlotIndex::none) == "graphjit: text");
    CHECK(list.error(gj::ErrorCode::overlap, "text").code == gj::ErrorCode::overlap);
}

TEST_CASE("OpList: knows which memories may alias, whoever was named first and how often") {
    CpuRecorder rec;
    std::vector<gj::Input<float>> inputs;
    for (int i = 0; i < 20; ++i) inputs.push_back(rec.input<float>("in", 4));
    const unsigned pairs[][2] = {{7, 3}, {3, 7}, {0, 19}, {7, 3}, {19, 18}, {3, 4}, {5, 5}};
    for (const auto& pair : pairs) rec.may_alias(inputs[pair[0]], inputs[pair[1]].slice(1, 2));
    const CpuList list = std::move(rec).finish().value();
    REQUIRE(list.aliases().size() == 4);
    for (unsigned i = 1; i < 4; ++i) CHECK(list.aliases()[i - 1] < list.aliases()[i]);
    for (unsigned a = 0; a < 20; ++a) {
        for (unsigned b = a + 1; b < 20; ++b) {
            const bool expected = (a == 3 && b == 7) || (a == 0 && b == 19) || (a == 18 && b == 19) ||
                                  (a == 3 && b == 4);
            CHECK(list.may_alias({gj::MemoryIndex{a}, gj::MemoryIndex{b}}) == expected);
        }
    }
}

template <class T>
bool same(gj::Span<const T> a, gj::Span<const T> b, bool (*equal)(const T&, const T&)) {
    if (a.size() != b.size() || (a.size() != 0 && a.data() == b.data())) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!equal(a[i], b[i])) return false;
    }
    return true;
}

TEST_CASE("OpList: a clone has all of it, in memory of its own") {
    const CpuList list = everything();
    const CpuList copy = list.clone().value();
    CHECK(copy.owner() == list.owner());
    CHECK(same<gj::OpRecord>(list.ops(), copy.ops(), [](const auto& a, const auto& b) {
        return a.kind == b.kind && a.block == b.block && a.info == b.info && a.handle == b.handle &&
               a.first_access == b.first_access && a.access_count == b.access_count && a.name.begin == b.name.begin;
    }));
    CHECK(same<gj::MemoryRecord>(list.memories(), copy.memories(), [](const auto& a, const auto& b) {
        return a.address == b.address && a.bytes == b.bytes && a.is_input == b.is_input && a.slot == b.slot;
    }));
    CHECK(same<gj::SlotRecord>(list.slots(), copy.slots(), [](const auto& a, const auto& b) {
        return a.kind == b.kind && a.index == b.index && a.initial == b.initial && a.has_initial == b.has_initial;
    }));
    CHECK(same<gj::Use>(list.uses(), copy.uses(), [](const auto& a, const auto& b) {
        return a.kind == b.kind && a.op == b.op && a.offset == b.offset && a.expr == b.expr && a.slot == b.slot;
    }));
    CHECK(same<gj::AliasRecord>(list.aliases(), copy.aliases(),
                                [](const auto& a, const auto& b) { return a.a == b.a && a.b == b.b; }));
    CHECK(same<std::byte>(list.blocks(), copy.blocks(), [](const auto& a, const auto& b) { return a == b; }));
    CHECK(same<std::byte>(list.values(), copy.values(), [](const auto& a, const auto& b) { return a == b; }));
    CHECK(same<gj::ExprNode>(list.exprs().nodes(), copy.exprs().nodes(),
                             [](const auto& a, const auto& b) { return a.op == b.op && a.a == b.a && a.b == b.b; }));
    for (unsigned i = 0; i < list.size(); ++i) {
        CHECK(name(copy.name(op(i))) == name(list.name(op(i))));
        CHECK(copy.accesses(op(i)).size() == list.accesses(op(i)).size());
    }
    CHECK(edges(copy) == edges(list));
}

TEST_CASE("OpList: a clone is for the same backend") {
    struct Numbered : gj::NullBackend {
        int number = 0;
    };
    Numbered backend;
    backend.number = 7;
    gj::Recorder<Numbered> rec(backend);
    (void)rec.launch(inc<>, nullptr);
    const gj::OpListOf<Numbered> list = std::move(rec).finish().value();
    CHECK(list.backend().number == 7);
    CHECK(list.clone().value().backend().number == 7);
}

TEST_CASE("OpList: a clone that finds no memory is an error, wherever it runs out, and the original stays whole") {
    const CpuList list = everything();
    CHECK(allocations_needed([&] {
              const gj::Result<CpuList> copy = list.clone();
              CHECK((copy.ok() || copy.code() == gj::ErrorCode::out_of_memory));
              return copy.ok();
          }) > 5);
    CHECK(verdict(list) == "right");
}

TEST_CASE("OpList: empty by default") {
    const gj::OpList list;
    CHECK(list.size() == 0);
    CHECK(list.owner() == 0);
    CHECK(list.ops().empty());
    CHECK(list.uses().empty());
}

}  // namespace
