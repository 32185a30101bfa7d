// Why does this op wait for that one? An edge has the bytes that both touch as its reason; where two ops share bytes
// but have no edge, a path of other edges implies their order.
#include <graphjit/graph.hpp>
#include <graphjit/observe/dot.hpp>

#include <cstdio>
#include <vector>

namespace gj = graphjit;

void load(gj::Out<float> samples) { samples[0] = 1; }
void window(const float* samples, gj::Out<float> framed) { framed[0] = samples[0]; }
void transform(const float* framed, gj::Out<float> spectrum) { spectrum[0] = framed[0]; }
void blend(const float* samples, const float* spectrum, gj::Out<float> picture) {
    picture[0] = samples[0] + spectrum[0];
}

void print(gj::Span<const char> text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// All bytes that order `after` behind `before`. False: there are none.
bool print_reasons(const gj::OpList& ops, gj::OpIndex before, gj::OpIndex after) {
    int count = 0;
    for_each_reason(ops, before, after, [&](const gj::Reason& reason) {
        if (count++ == 0) {
            print(ops.name(after));
            std::printf(" waits for ");
            print(ops.name(before));
        }
        std::printf(", %s of bytes %d to %d of ", to_text(reason.hazard), static_cast<int>(reason.begin),
                    static_cast<int>(reason.end));
        print(ops.name(reason.memory));
    });
    return count != 0;
}

gj::Status explain(const gj::OpList& ops, const gj::Dag& dag) {
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
        for (std::uint32_t j = 0; j < i; ++j) {
            const auto before = gj::OpIndex{j}, after = gj::OpIndex{i};
            if (!print_reasons(ops, before, after)) continue;
            auto path = gj::Path::find(dag, before, after);
            if (!path) return path.status();
            if (path->ops().size() == 2) {
                std::printf(": an edge\n");
                continue;
            }
            std::printf(": implied by ");
            for (gj::OpIndex op : path->ops()) {
                if (op != before) std::printf(" -> ");
                print(ops.name(op));
            }
            std::printf("\n");
        }
    }
    return {};
}

int main() {
    std::vector<float> first(64), second(64), third(64);
    gj::Recorder<gj::CpuBackend> rec;
    auto samples = rec.buffer("samples", first), spectrum = rec.buffer("spectrum", second);
    auto picture = rec.buffer("picture", third);
    rec.launch(gj::kernel<load>, samples);
    rec.launch(gj::kernel<window>, samples, spectrum.slice(0, 32));
    rec.launch(gj::kernel<transform>, spectrum.slice(0, 32), spectrum.slice(32, 32));
    rec.launch(gj::kernel<blend>, samples, spectrum.slice(32, 32), picture);
    rec.launch("load next", gj::kernel<load>, samples);

    auto graph = gj::instantiate(std::move(rec));
    if (!graph) return std::puts(graph.message().c_str()), 1;
    if (gj::Status status = explain(graph->ops(), graph->dag()); !status) return std::puts(status.message().c_str()), 1;
    gj::write_dot(graph->ops(), graph->dag(), [](const char* text, std::size_t size) { print({text, size}); });
}
