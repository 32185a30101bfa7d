// One recording for every batch size: launch dims, a view and an argument are expressions over the Variable `n`.
#include <graphjit/graph.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace gj = graphjit;

constexpr int group_size = 64;
constexpr int most = 1000;

// On the CPU a kernel is called once per launch and loops over the work-items itself; the last group is a part of one.
void square(gj::LaunchDims dims, std::uint32_t n, const int* in, gj::Out<int> out) {
    for (std::uint32_t i = 0; i < gj::work_items_x(dims) && i < n; ++i) out[i] = in[i] * in[i];
}

void note_dims(gj::LaunchDims dims, gj::Out<std::uint32_t> groups) { *groups = dims.groups.x; }

int main() {
    std::vector<int> numbers(most), squares(most);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::uint32_t groups_launched = 0;

    gj::Recorder<gj::CpuBackend> rec;
    auto n = rec.variable("n", {.min = 0, .max = most});
    auto in = rec.buffer("numbers", numbers);
    auto out = rec.buffer("squares", squares);
    auto seen = rec.buffer("groups_launched", &groups_launched, 1);

    const gj::LaunchExprs dims{.groups = {gj::ceil_div(n, group_size)}, .group_size = {group_size}};
    rec.launch(gj::kernel<square>, dims, n, in.slice(0, n), out.slice(most - n, n));  // the results at the end
    rec.launch(gj::kernel<note_dims>, dims, seen);

    auto graph = gj::instantiate(std::move(rec));
    if (!graph) {
        std::printf("%s\n", graph.message().c_str());
        return 1;
    }
    for (const int count : {1000, 64, 65, 0, 1001, 10}) {
        graph->set(n, count);
        if (gj::Status status = graph->replay(); status.code() == gj::ErrorCode::out_of_range) {
            std::printf("n = %4d: refused, nothing ran: %s\n", count, status.message().c_str());
        } else if (!status) {
            std::printf("%s\n", status.message().c_str());
            return 1;
        } else {
            // With n = 0 there are no groups: neither kernel is called, and what is in memory stays.
            std::printf("n = %4d: %2u groups, the last square is %d\n", count, groups_launched, squares.back());
        }
    }
    return 0;
}
