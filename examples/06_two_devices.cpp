// Two devices made of threads: what runs where, who waits for whom, and replays that follow each other without the
// host.
#include <graphjit/backend/threads.hpp>
#include <graphjit/graph.hpp>

#include <cstdio>
#include <vector>
namespace gj = graphjit;

void step(float* x) {
    for (int i = 0; i < 4; ++i) x[i] = x[i] / 2 + 1;
}

int main() {
    std::vector<float> a(4), b(4);

    gj::ThreadDevices devices({.devices = 2});  // a thread for kernels and one for copies each
    gj::Recorder<gj::ThreadBackend> rec(devices);
    const auto here = rec.buffer("here", a);
    const auto there = rec.buffer("there", b, gj::DeviceId{1});  // memory lies on a device
    rec.launch(gj::kernel<step>, here);
    rec.copy(there, here);
    rec.on(gj::DeviceId{1});  // kernels from here on run there
    rec.launch(gj::kernel<step>, there);
    auto graph = gj::instantiate(std::move(rec)).value();

    gj::write_queues(graph.ops(), graph.native().queues(), graph.native().signals(),
                     [](const char* text, std::size_t size) { std::fwrite(text, 1, size, stdout); });

    for (int i = 0; i < 3; ++i) {
        if (gj::Status status = graph.replay(); !status) return std::puts(status.message().c_str()), 1;
    }
    if (gj::Status status = graph.wait(); !status) return std::puts(status.message().c_str()), 1;
    std::printf("after three replays: %g here, %g there\n", double(a[0]), double(b[0]));

    if (gj::Status status = graph.replay_and_wait(); !status) return std::puts(status.message().c_str()), 1;
    std::printf("after four: %g here, %g there\n", double(a[0]), double(b[0]));
}
