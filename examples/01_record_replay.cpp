// An echo, recorded once and replayed block by block. Nobody says what waits for what: it follows from the memory.
#include <graphjit/graph.hpp>

#include <cstdio>
#include <vector>
namespace gj = graphjit;

// A kernel is a function: `const T*` is read, `T*` read and written, `gj::Out<T>` only written; the rest are values.
void scale(double gain, const double* in, gj::Out<double> out) {
    for (int i = 0; i < 2; ++i) out[i] = gain * in[i];
}
void echo(const double* in, double* line, gj::Out<double> out) {
    for (int i = 0; i < 2; ++i) out[i] = line[i] = in[i] + line[i] / 2;
}

int main() {
    std::vector<double> song{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, output(2), scaled(2), line(3 * 2);

    gj::Recorder<gj::CpuBackend> rec;
    auto in = rec.input<const double>("in", 2);  // a buffer that each replay may give anew
    auto out = rec.input<double>("out", 2);
    auto gain = rec.slot<double>("gain", 1.0);               // a number that may change
    auto turn = rec.variable("turn", {.min = 0, .max = 2});  // an integer: may stand in offsets, sizes, launch dims
    auto mid = rec.buffer("mid", scaled), ring = rec.buffer("ring", line);
    rec.launch(gj::kernel<scale>, gain, in, mid);
    rec.launch(gj::kernel<echo>, mid, ring.slice(turn * 2, 2), out);

    auto graph = gj::instantiate(std::move(rec)).value();  // throws if anything above was wrong
    for (int block = 0; block < 6; ++block) {
        graph.set(in, song.data() + 2 * block, 2).set(out, output).set(turn, block % 3);
        if (block == 3) graph.set(gain, 0.0);  // from here on only the echo is left
        if (gj::Status status = graph.replay(); !status) return std::puts(status.message().c_str()), 1;
        std::printf("block %d: %4.1f %4.1f\n", block, output[0], output[1]);
    }
}
