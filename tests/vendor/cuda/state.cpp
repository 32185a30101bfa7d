#include "state.hpp"

#include "engine.hpp"
#include "memory.hpp"

namespace test::cuda {

namespace {

/// The workers stop before what they work on goes away.
struct StateAndWorkers {
    State state;
    StateAndWorkers() { make_engine(); }  // first, so that it goes last
    StateAndWorkers(const StateAndWorkers&) = delete;
    StateAndWorkers& operator=(const StateAndWorkers&) = delete;
    ~StateAndWorkers() { stop_workers(); }
};

}  // namespace

State& state() {
    static StateAndWorkers all;
    return all.state;
}

ThreadState& this_thread() {
    thread_local ThreadState mine;
    State& s = state();
    if (mine.generation != s.generation) {
        const bool executing = mine.executing;
        mine = ThreadState{};
        mine.generation = s.generation;
        mine.executing = executing;
    }
    return mine;
}

}  // namespace test::cuda
