// Two graphs, one buffer: a simulation makes four steps for each picture that is drawn of it.
// Inside a graph the order comes from memory. Between graphs it is the caller's: the order of `replay` and `wait`.
#include <graphjit/graph.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace gj = graphjit;

constexpr int cells = 32;

// Heat flows along a bar whose ends are cold.
void diffuse(const float* now, gj::Out<float> next) {
    next[0] = next[cells - 1] = 0.0f;
    for (int i = 1; i < cells - 1; ++i) next[i] = now[i] + (now[i - 1] - 2.0f * now[i] + now[i + 1]) / 4.0f;
}

void draw(const float* heat, gj::Out<char> picture) {
    constexpr char shades[] = " .:-=+*#%@";
    for (int i = 0; i < cells; ++i) picture[i] = shades[static_cast<int>(heat[i] * 9.99f)];
}

using Graph = gj::MultiGraphRunner<gj::CpuBackend>;

gj::Result<Graph> record_step(std::vector<float>& heat, std::vector<float>& scratch) {
    gj::Recorder<gj::CpuBackend> rec;
    auto a = rec.buffer("heat", heat);
    auto b = rec.buffer("scratch", scratch);
    rec.launch("step 1", gj::kernel<diffuse>, a, b);
    rec.launch("step 2", gj::kernel<diffuse>, b, a);
    return gj::instantiate(std::move(rec));
}

gj::Result<Graph> record_draw(const std::vector<float>& heat, std::string& picture) {
    gj::Recorder<gj::CpuBackend> rec;
    auto from = rec.buffer("heat", heat);  // a Buffer<const float>: writing it here would not compile
    auto to = rec.buffer("picture", picture);
    rec.launch(gj::kernel<draw>, from, to);
    return gj::instantiate(std::move(rec));
}

gj::Status show(Graph& step, Graph& picture_of, const std::string& picture) {
    for (int frame = 0; frame < 8; ++frame) {
        for (int i = 0; i < 2; ++i) {
            if (gj::Status status = step.replay(); !status) return status;
        }
        // The CPU backend is done when `replay` returns; on a device the next graph must not overtake this one.
        if (gj::Status status = step.wait(); !status) return status;
        if (gj::Status status = picture_of.replay(); !status) return status;
        if (gj::Status status = picture_of.wait(); !status) return status;
        std::printf("|%s|\n", picture.c_str());
    }
    return {};
}

int main() {
    std::vector<float> heat(cells), scratch(cells);
    std::string picture(cells, ' ');
    for (int i = 12; i < 20; ++i) heat[static_cast<std::size_t>(i)] = 1.0f;

    auto step = record_step(heat, scratch);
    auto picture_of = record_draw(heat, picture);
    gj::Status status = !step ? step.status() : !picture_of ? picture_of.status() : show(*step, *picture_of, picture);
    if (!status) std::printf("%s\n", status.message().c_str());
    return status ? 0 : 1;
}
