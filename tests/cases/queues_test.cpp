// Kinds A and E where they concern several queues: which queue, which waits and which signals. Numbers here: 16, 72,
// 73, 76, 78, 80, 83, 84. Nothing runs here; the oracle says whether what is planned is right and no more than it must
// be.
#include "support/kernels.hpp"
#include "support/signal_plans.hpp"

#include <graphjit/plan/balanced.hpp>

#include <array>
#include <string>
#include <vector>

namespace {

using namespace test;
using Array4 = std::array<std::int32_t, 4>;

constexpr gj::DeviceId d0{0}, d1{1}, d2{2};

/// Stands for an op of which only the accesses count.
void only_accesses(std::int32_t) {}

TEST_CASE("case 16: ops on the compute queue wait for a copy, and a copy for them") {
    Array4 a{}, b{}, c{}, e{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    const auto buffer_c = rec.buffer("c", c);
    rec.launch(slow_fill<>, buffer_a, 4);
    rec.copy(buffer_b, buffer_a);
    rec.launch(mix<>, buffer_c, buffer_b, 0);
    rec.copy(rec.buffer("e", e), buffer_c);
    const CpuList list = std::move(rec).finish().value();
    for (const gj::QueueOrder order : queue_orders) {
        const Signalled graph(list, order);
        CHECK(graph.all_queues() == "C0 X0 C0 X0");
        CHECK(graph.waits(0) == "");
        CHECK(graph.waits(1) == "C0:1");
        CHECK(graph.waits(2) == "X0:1");  // which is behind the first kernel, whatever the queue keeps
        CHECK(graph.waits(3) == "C0:2");
        CHECK(graph.final_waits(0) == "X0:2");
        CHECK(graph.signals() == "0 1 2 3");
        CHECK(graph.verdict() == "right");
    }
}

TEST_CASE("case 16: ops that need no copy wait for none") {
    Array4 a{}, b{}, c{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_c = rec.buffer("c", c);
    rec.launch(fill<>, buffer_a, 4);
    rec.copy(rec.buffer("b", b), buffer_a);
    rec.launch(mix<>, buffer_c, buffer_a, 0);  // reads what the copy reads
    rec.launch(fill<>, buffer_a, 0);           // overwrites it
    const CpuList list = std::move(rec).finish().value();
    const Signalled graph(list, gj::QueueOrder::kept);
    CHECK(graph.waits(1) == "C0:1");
    CHECK(graph.waits(2) == "");
    CHECK(graph.waits(3) == "X0:1");
    CHECK(graph.final_waits(0) == "");
    CHECK(graph.signals() == "0 1");
    CHECK(graph.verdict() == "right");
}

TEST_CASE("case 72: a kernel waits until the device whose memory it touches is ready") {
    Array4 c{}, y{};
    CpuRecorder rec;
    rec.launch(mix<>, rec.buffer("c", c, d0), rec.buffer("y", y, d1), 0);
    const CpuList list = std::move(rec).finish().value();
    for (const gj::QueueOrder order : queue_orders) {
        const Signalled graph(list, order);
        CHECK(graph.queue(0u) == "C0");
        CHECK(graph.ready_waits(0) == "1");  // its own device's queue begins when that is ready
        CHECK(graph.verdict() == "right");
    }
}

TEST_CASE("case 72: once a queue, not once an op, and not where another queue's op had waited") {
    Array4 c{}, e{}, y{}, z{};
    CpuRecorder rec;
    const auto buffer_c = rec.buffer("c", c, d0);
    const auto buffer_e = rec.buffer("e", e, d0);
    const auto buffer_y = rec.buffer("y", y, d1);
    const auto buffer_z = rec.buffer("z", z, d1);
    rec.launch(mix<>, buffer_c, buffer_y, 0);
    rec.launch(mix<>, buffer_e, buffer_z, 0);
    rec.copy(buffer_z, buffer_e);
    rec.copy(buffer_y, buffer_z);  // by the copy queue of device 1, which awaits nothing by itself
    const CpuList list = std::move(rec).finish().value();
    for (const gj::QueueOrder order : queue_orders) {
        const Signalled graph(list, order);
        CHECK(graph.all_queues() == "C0 C0 X0 X1");
        CHECK(graph.ready_waits(0) == "1");
        CHECK(graph.ready_waits(1) == "");
        CHECK(graph.waits(2) == "C0:2");
        CHECK(graph.ready_waits(2) == "");
        CHECK(graph.waits(3) == "X0:1");
        CHECK(graph.ready_waits(3) == "");
        CHECK(graph.verdict() == "right");
    }
}

TEST_CASE("case 73: a device hears when a kernel of another device has finished with its memory") {
    Array4 c{}, y{};
    for (const bool writes : {true, false}) {
        CpuRecorder rec;
        const auto buffer_c = rec.buffer("c", c, d0);
        const auto buffer_y = rec.buffer("y", y, d1);
        if (writes) {
            rec.launch(slow_fill<>, buffer_y, 7);
        } else {
            rec.launch(slow<>, buffer_c, buffer_y);
        }
        const CpuList list = std::move(rec).finish().value();
        for (const gj::QueueOrder order : queue_orders) {
            const Signalled graph(list, order);
            CHECK(graph.queue(0u) == "C0");
            CHECK(graph.final_waits(1) == "C0:1");
            CHECK(graph.final_waits(0) == (order == gj::QueueOrder::not_kept ? "C0:1" : ""));
            CHECK(graph.signals() == "0");
            CHECK(graph.verdict() == "right");
        }
    }
}

TEST_CASE("case 76: a copy between devices follows earlier work of both, and later work of both follows it") {
    Array4 x{}, y{};
    CpuRecorder rec;
    rec.copy(rec.buffer("y", y, d1), rec.buffer("x", x, d0));
    const CpuList list = std::move(rec).finish().value();
    struct Choice {
        bool first, second;  // which devices have a copy queue
        std::string queue, ready, end_of_first, end_of_second;
    };
    for (const Choice& choice :
         {Choice{true, true, "X0", "1 0", "X0:1", "X0:1"}, Choice{false, true, "X1", "1 0", "X1:1", "X1:1"},
          Choice{false, false, "C0", "1", "", "C0:1"}}) {
        INFO(choice.queue);
        const auto has_copy_queue = [&](gj::DeviceId device) { return device == d0 ? choice.first : choice.second; };
        const Signalled graph(list, gj::ByDevice()(list, has_copy_queue).value(), gj::QueueOrder::kept);
        CHECK(graph.queue(0u) == choice.queue);
        CHECK(graph.ready_waits(0) == choice.ready);
        CHECK(graph.final_waits(0) == choice.end_of_first);
        CHECK(graph.final_waits(1) == choice.end_of_second);
        CHECK(graph.signals() == "0");
        CHECK(graph.verdict() == "right");
    }
}

TEST_CASE("case 78: what is needed of two queues of one device is waited for on both") {
    Array4 a{}, b{}, s{}, c{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a, d0);
    const auto buffer_b = rec.buffer("b", b, d0);
    rec.launch(slow_fill<>, buffer_a, 1);
    rec.copy(buffer_b, rec.buffer("s", s, d0));
    rec.on(d1);
    rec.launch(add<>, rec.buffer("c", c, d1), buffer_a, buffer_b);
    const CpuList list = std::move(rec).finish().value();
    for (const gj::QueueOrder order : queue_orders) {
        const Signalled graph(list, order);
        CHECK(graph.all_queues() == "C0 X0 C1");
        CHECK(graph.waits(2) == "C0:1 X0:1");
        CHECK(graph.verdict() == "right");
    }
}

TEST_CASE("case 78: eight producers on four queues are waited for by the latest that is needed of each") {
    std::vector<Array4> memory(10);
    CpuRecorder rec;
    std::vector<gj::Buffer<std::int32_t>> made;
    for (unsigned i = 0; i < 8; ++i) {
        const auto device = static_cast<gj::DeviceId>(i / 2 % 2);
        made.push_back(rec.buffer("made", memory[i], device));
        rec.on(device);
        if (i % 2 == 0) {
            rec.launch(slow_fill<>, made[i], 1);
        } else {
            rec.copy(made[i], rec.buffer("s", memory[8], device));
        }
    }
    const auto one = [&](unsigned i) { return reads(made[i]); };
    rec.launch(fill<>, rec.buffer("not needed", memory[9], d0), 1);
    rec.on(d2);
    rec.launch(gj::kernel<only_accesses>, 0, one(0), one(1), one(2), one(3), one(4), one(5), one(6), one(7));
    const CpuList list = std::move(rec).finish().value();
    const Signalled graph(list, gj::QueueOrder::kept);
    CHECK(graph.all_queues() == "C0 X0 C1 X1 C0 X0 C1 X1 C1 C2");
    CHECK(graph.waits(9) == "C0:2 X0:2 C1:2 X1:2");
    CHECK(graph.verdict() == "right");
    // Where queues keep no order an op is still behind the one before it on its queue.
    const Signalled unordered(list, gj::QueueOrder::not_kept);
    CHECK(unordered.waits(9) == graph.waits(9));
    CHECK(unordered.verdict() == "right");
}

/// One op, nine that read what it wrote, and one that reads what those wrote.
CpuList fan_out(std::vector<Array4>& memory) {
    memory.resize(11);
    CpuRecorder rec;
    std::vector<gj::Buffer<std::int32_t>> c;
    const auto a = rec.buffer("a", memory[9]);
    rec.launch(slow_fill<>, a, 3);
    for (unsigned i = 0; i < 9; ++i) {
        c.push_back(rec.buffer("c", memory[i]));
        rec.launch(mix<>, c.back(), a, 0);
    }
    rec.launch(gj::kernel<only_accesses>, 0, writes(rec.buffer("sum", memory[10])), reads(c[0]), reads(c[1]),
               reads(c[2]), reads(c[3]), reads(c[4]), reads(c[5]), reads(c[6]), reads(c[7]), reads(c[8]));
    return std::move(rec).finish().value();
}

TEST_CASE("case 80: of nine consumers on four queues each that cannot know of the producer waits for it") {
    std::vector<Array4> memory;
    const CpuList list = fan_out(memory);
    const auto graph_for = [&](gj::QueueOrder order) {
        return Signalled(list, gj::Balanced{.queues = 4, .hop_cost = 0.25f}(list, plan_of(list)).value(), order);
    };
    const Signalled graph = graph_for(gj::QueueOrder::kept);
    CHECK(graph.all_queues() == "C0 C0 C0.1 C0.2 C0.3 C0 C0.1 C0.2 C0.3 C0 C0");
    const char* waits[] = {"", "", "C0:1", "C0:1", "C0:1", "", "", "", "", "", "C0.1:2 C0.2:2 C0.3:2"};
    for (unsigned i = 0; i < 11; ++i) {
        INFO("op ", i);
        CHECK(graph.waits(i) == waits[i]);
        CHECK(graph.ready_waits(i) == "");
    }
    CHECK(graph.signals() == "0 6 7 8");
    CHECK(graph.verdict() == "right");

    const Signalled unordered = graph_for(gj::QueueOrder::not_kept);
    const char* more_waits[] = {
        "", "C0:1", "C0:1", "C0:1", "C0:1", "C0:2", "C0.1:1", "C0.2:1", "C0.3:1", "C0:3", "C0.1:2 C0.2:2 C0.3:2 C0:4"};
    for (unsigned i = 0; i < 11; ++i) {
        INFO("op ", i);
        CHECK(unordered.waits(i) == more_waits[i]);
    }
    CHECK(unordered.verdict() == "right");
    CHECK(graph_for(gj::QueueOrder::chains_two).verdict() == "right");
}

TEST_CASE("case 83: two ops of one queue signal two values, and each is waited for by its own") {
    Array4 a{}, b{}, c{}, d{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a, d0);
    const auto buffer_b = rec.buffer("b", b, d0);
    rec.launch(fill<>, buffer_a, 1);
    rec.launch(fill<>, buffer_b, 2);
    rec.on(d1);
    rec.launch(mix<>, rec.buffer("c", c, d1), buffer_a, 0);
    rec.on(d2);
    rec.launch(mix<>, rec.buffer("d", d, d2), buffer_b, 0);
    const CpuList list = std::move(rec).finish().value();
    for (const gj::QueueOrder order : queue_orders) {
        const Signalled graph(list, order);
        CHECK(graph.waits(2) == "C0:1");
        CHECK(graph.waits(3) == "C0:2");
        CHECK(graph.plan().position(op(0)) == 1);
        CHECK(graph.plan().position(op(1)) == 2);
        CHECK(graph.plan().signals(op(0)));
        CHECK(graph.plan().signals(op(1)));
        CHECK(graph.verdict() == "right");
    }
}

TEST_CASE("case 84: round a ring of devices and back to the first, with one wait a step") {
    std::array<Array4, 3> x{}, mixed{};
    CpuRecorder rec;
    const auto at = [&](unsigned i) { return rec.buffer("x", x[i], static_cast<gj::DeviceId>(i)); };
    const gj::Buffer<std::int32_t> ring[] = {at(0), at(1), at(2)};
    for (unsigned i = 0; i < 3; ++i) {
        const auto device = static_cast<gj::DeviceId>(i);
        const auto made = rec.buffer("mixed", mixed[i], device);
        rec.on(device);
        rec.launch(mix<>, made, ring[i], 0);
        rec.copy(ring[(i + 1) % 3], made);
    }
    const CpuList list = std::move(rec).finish().value();
    for (const gj::QueueOrder order : queue_orders) {
        const Signalled graph(list, order);
        CHECK(graph.all_queues() == "C0 X0 C1 X1 C2 X2");
        const char* waits[] = {"", "C0:1", "X0:1", "C1:1", "X1:1", "C2:1"};
        const char* ready[] = {"", "1", "", "2", "", ""};  // the last copy comes back to where the first kernel was
        for (unsigned i = 0; i < 6; ++i) {
            INFO("op ", i);
            CHECK(graph.waits(i) == waits[i]);
            CHECK(graph.ready_waits(i) == ready[i]);
        }
        // The next round begins on each device when all that touched it is over: on the first, the last copy.
        CHECK(graph.final_waits(0) == "X2:1");
        CHECK(graph.final_waits(1) == "X1:1");
        CHECK(graph.final_waits(2) == "X2:1");
        CHECK(graph.signals() == "0 1 2 3 4 5");
        CHECK(graph.verdict() == "right");
    }
}

}  // namespace
