#include "engine.hpp"

#include "call.hpp"

namespace test::cuda {

namespace {

struct Engine {
    std::vector<std::thread> workers;
    std::condition_variable wake;
    std::vector<CommandPtr> ready;
    std::mt19937_64 random{1};
    std::size_t running = 0;
    std::size_t unfinished = 0;
    bool held = false;
    bool dropping = false;
    bool stopping = false;
};

Engine& engine() {
    static Engine it;
    return it;
}

void finish(const CommandPtr& command) {
    Engine& e = engine();
    command->done = true;
    command->finished = std::chrono::steady_clock::now();
    for (const CommandPtr& next : command->successors)
        if (--next->pending == 0) e.ready.push_back(next);
    if (!command->successors.empty()) e.wake.notify_all();
    command->successors.clear();
    command->work = nullptr;
    if (command->owner) command->owner->in_flight.erase(command->id);
    command->owner = nullptr;  // its streams go on knowing their last command
    --e.unfinished;
    state().changed.notify_all();
}

void work() {
    State& s = state();
    Engine& e = engine();
    std::unique_lock lock(s.mutex);
    while (!e.stopping) {
        if (e.ready.empty() || (e.held && !e.dropping)) {
            e.wake.wait(lock);
            continue;
        }
        // Any that is ready, not the oldest: an order that nobody asked for soon comes out wrong.
        std::swap(e.ready[e.random() % e.ready.size()], e.ready.back());
        const CommandPtr command = std::move(e.ready.back());
        e.ready.pop_back();
        // After a fault nothing more executes: the manual calls the process inconsistent.
        if (command->work && !s.fault && !e.dropping) {
            const auto pause = std::chrono::microseconds(s.options.slow ? e.random() % 300 : 0);
            const auto doing = std::move(command->work);
            ++e.running;
            lock.unlock();
            if (pause.count() > 0) std::this_thread::sleep_for(pause);
            this_thread().executing = true;
            doing();
            this_thread().executing = false;
            lock.lock();
            --e.running;
        }
        finish(command);
    }
}

}  // namespace

CommandPtr make_command(const ContextPtr& owner, std::function<void()> work) {
    auto command = std::make_shared<Command>();
    command->id = state().new_id();
    command->owner = owner;
    command->work = std::move(work);
    return command;
}

void add_dependency(const CommandPtr& command, const CommandPtr& predecessor) {
    if (!predecessor || predecessor->done) return;
    predecessor->successors.push_back(command);
    ++command->pending;
}

void submit(const CommandPtr& command) {
    Engine& e = engine();
    if (command->owner) command->owner->in_flight.insert(command->id);
    ++e.unfinished;
    if (command->pending > 0) return;
    e.ready.push_back(command);
    e.wake.notify_one();
}

CommandPtr append(const StreamPtr& stream, std::function<void()> work) {
    const ContextPtr context = stream->context.lock();
    CommandPtr command = make_command(context, std::move(work));
    add_dependency(command, stream->tail);
    if (context && stream == context->legacy) {
        // Behind all that is in the blocking streams of its context, as those are behind it.
        for (const auto& weak : context->streams)
            if (const StreamPtr other = weak.lock(); other && other->blocking()) add_dependency(command, other->tail);
    } else if (context && stream->blocking()) {
        add_dependency(command, context->legacy->tail);
    }
    stream->tail = command;
    return command;
}

void report_locked(Violation::Kind kind, std::string text) {
    State& s = state();
    s.violations.push_back({kind, std::move(text)});
    if (!s.fault) s.fault = CUDA_ERROR_ILLEGAL_ADDRESS;
}

void report(Violation::Kind kind, std::string text) {
    const std::lock_guard lock(state().mutex);
    report_locked(kind, std::move(text));
}

void start_workers() {
    Engine& e = engine();
    const int wanted = std::max(1, state().options.workers);
    for (int i = static_cast<int>(e.workers.size()); i < wanted; ++i) e.workers.emplace_back(work);
}

void make_engine() { (void)engine(); }

void stop_workers() {
    Engine& e = engine();
    {
        const std::lock_guard lock(state().mutex);
        e.stopping = true;
        e.wake.notify_all();
    }
    for (std::thread& worker : e.workers) worker.join();
    e.workers.clear();
    e.stopping = false;
}

void wake_workers() { engine().wake.notify_all(); }

void drop_work(std::unique_lock<std::mutex>& lock) {
    Engine& e = engine();
    e.dropping = true;
    e.wake.notify_all();
    state().changed.wait(lock, [&] { return e.unfinished == 0 && e.running == 0; });
    e.dropping = false;
    e.held = false;
}

void set_held(bool held) {
    engine().held = held;
    engine().wake.notify_all();
}

void seed_engine(std::uint64_t seed) { engine().random.seed(seed); }

std::size_t commands_in_flight() { return engine().unfinished; }

}  // namespace test::cuda
