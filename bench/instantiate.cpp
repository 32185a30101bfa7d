// cpu.instantiate: from a recording and its plan to a graph that can be replayed.
#include "graphs.hpp"
#include "report.hpp"
#include "sampling.hpp"

#include <optional>

namespace bench {

void instantiate_benchmarks(const Report& report) {
    using Runner = gj::MultiGraphRunner<gj::CpuBackend>;
    for (const std::uint32_t n : {10u, 100u, 1000u, 10'000u}) {
        const std::string name = "cpu.instantiate." + std::to_string(n);
        if (!report.wants(name)) continue;
        const Graph graph = random_graph(n);
        const Memory memory(graph.buffers);
        const gj::OpListOf<gj::CpuBackend> list = record<gj::CpuBackend>(graph, memory);
        const gj::Dag dag = gj::Planner().plan(list).value();
        const std::vector<Call> calls = bare_calls(graph, memory);

        const auto ours = [&] {
            auto list_copy = list.clone().value();
            gj::Dag dag_copy;
            require(dag_copy.copy_from(dag), "no memory");
            std::optional<Runner> runner;  // outlives the time that is taken
            return timed([&] {
                       runner.emplace(InPlace{
                           [&] { return Runner::instantiate(std::move(list_copy), std::move(dag_copy)).value(); }});
                   }) /
                   n;
        };
        const auto copy = [&] {
            std::optional<std::vector<Call>> copied;
            return timed([&] { copied.emplace(calls); }) / n;
        };
        const auto [time, copy_time] = alternate_timed(n <= 1000 ? 1001 : 201, ours, copy);
        report.add(name, time, "ns/op", copy_time);
    }
}

}  // namespace bench
