// Executes commands on worker threads, in any order that their dependencies leave.
#pragma once

#include "state.hpp"

namespace test::cuda {

// All of these are called with the lock of the state held.

[[nodiscard]] CommandPtr make_command(const ContextPtr& owner, std::function<void()> work = {});
void add_dependency(const CommandPtr& command, const CommandPtr& predecessor);
void submit(const CommandPtr& command);

/// A command at the end of the stream: after all that the stream's rules put before it, not yet submitted.
[[nodiscard]] CommandPtr append(const StreamPtr& stream, std::function<void()> work = {});

/// CUDA_SUCCESS, or why the stream cannot be used now for anything.
[[nodiscard]] CUresult check_usable(const StreamPtr& stream);

/// In the stream's order; while it is captured, as a node of the graph.
[[nodiscard]] CUresult enqueue(const StreamPtr& stream, const Params& params, CommandPtr* command = nullptr);

/// What a command with these parameters does. Runs without the lock.
[[nodiscard]] std::function<void()> work_of(const Params& params);

/// Takes the lock itself.
void report(Violation::Kind kind, std::string text);
/// With the lock held.
void report_locked(Violation::Kind kind, std::string text);

void start_workers();
void make_engine();
void stop_workers();
void wake_workers();
/// Drops all that is queued. Waits, with the lock, for what is running.
void drop_work(std::unique_lock<std::mutex>& lock);
void set_held(bool held);
void seed_engine(std::uint64_t seed);
[[nodiscard]] std::size_t commands_in_flight();

}  // namespace test::cuda
