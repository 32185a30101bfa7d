// A recording run in a random one of the orders that its graph allows: a missing edge gives a wrong value without luck
// in timing. A tool for tests, ours and the user's; not in graph.hpp, since it includes threads.
#pragma once

#include <graphjit/base/csr.hpp>
#include <graphjit/run/backend_runner.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace graphjit::inline v0 {

struct AdversaryOptions {
    std::uint64_t seed = 1;
    std::uint32_t threads = 1;  // the caller's own included
};

/// Runs ops one by one like `EagerRunner`, but whichever may run now, chosen at random; anew in each replay.
/// Threads: starts and joins its own in each replay, so it allocates there, unlike other runners.
template <class Backend>
class AdversarialRunner : public OpRunner<AdversarialRunner<Backend>, Backend> {
    using Base = OpRunner<AdversarialRunner<Backend>, Backend>;

public:
    /// Errors: out_of_memory, dims_limit.
    [[nodiscard]] static Result<AdversarialRunner> create(const OpListOf<Backend>& list,
                                                          AdversaryOptions options = {}) noexcept {
        Planner planner;
        Result<Dag> dag = planner.plan(list);
        if (!dag) return dag.status();
        return create(list, std::move(*dag), options);
    }
    /// Runs an order of the user's own making. Pre: its edges go from earlier to later ops.
    [[nodiscard]] static Result<AdversarialRunner> create(const OpListOf<Backend>& list, Dag&& dag,
                                                          AdversaryOptions options) noexcept {
        Result<OpListOf<Backend>> copy = list.clone();
        if (!copy) return copy.status();
        Backend backend = list.backend();
        AdversarialRunner runner(std::move(*copy), std::move(dag), std::move(backend), options);
        if (Status status = runner.build_ops(); !status.ok()) return status;
        if (Status status = runner.list_followers(); !status.ok()) return status;
        return runner;
    }

    /// The order of the last replay.
    [[nodiscard]] Span<const OpIndex> last_order() const noexcept { return order_; }

private:
    friend GraphRunner<AdversarialRunner>;
    friend ReplayChecks<AdversarialRunner>;
    using Base::block_of, Base::has_images, Base::is_told, Base::tells_inputs, Base::tells_native;

    AdversarialRunner(OpList&& list, Dag&& dag, Backend&& backend, AdversaryOptions options) noexcept
        : Base(std::move(list), std::move(dag), std::move(backend)), options_(options),
          random_(options.seed * 0x9e37'79b9'7f4a'7c15u + 1) {}

    [[nodiscard]] Status list_followers() noexcept {
        const std::uint32_t count = this->ops().size();
        bool enough = followers_.start(count) && ready_.reserve(count) && open_.resize(count, 0) &&
                      order_.reserve(count);
        if (enough) {
            for_each_edge([&](OpIndex before, OpIndex) { followers_.count(to_integer(before)); });
            enough = followers_.place();
        }
        if (!enough) return this->ops().error(ErrorCode::out_of_memory, "no memory for an adversarial run");
        for_each_edge([&](OpIndex before, OpIndex after) { followers_.add(to_integer(before), after); });
        return {};
    }

    template <class Visit>
    void for_each_edge(Visit visit) const {
        for (std::uint32_t i = 0; i < this->ops().size(); ++i) {
            for (const OpIndex before : this->dag().dependencies(static_cast<OpIndex>(i))) {
                visit(before, static_cast<OpIndex>(i));
            }
        }
    }

    /// What the threads of one replay share.
    struct Turn {
        std::mutex mutex;
        std::condition_variable wake;
        Status failure;
        std::uint32_t left = 0;  // ops not finished
    };

    [[nodiscard]] Status submit() noexcept {
        Turn turn;
        turn.left = this->ops().size();
        ready_.clear();
        order_.clear();
        for (std::uint32_t i = 0; i < turn.left; ++i) {
            open_[i] = static_cast<std::uint32_t>(this->dag().dependencies(static_cast<OpIndex>(i)).size());
            if (open_[i] == 0) ready_.push_reserved(static_cast<OpIndex>(i));
        }
        detail::Array<std::thread*> helpers;
        if (!helpers.reserve(options_.threads)) {
            return this->ops().error(ErrorCode::out_of_memory, "no memory for the threads of an adversarial run");
        }
        for (std::uint32_t i = 1; i < options_.threads; ++i) {
            helpers.push_reserved(new (std::nothrow) std::thread([this, &turn] { work(turn); }));
        }
        work(turn);
        for (std::thread* helper : helpers) {
            if (helper != nullptr) helper->join();
            delete helper;
        }
        return turn.failure;
    }

    void work(Turn& turn) noexcept {
        std::unique_lock lock(turn.mutex);
        while (turn.left != 0 && turn.failure.ok()) {
            if (ready_.empty()) {
                turn.wake.wait(lock);
                continue;
            }
            const std::size_t chosen = next_random() % ready_.size();
            const OpIndex op = ready_[chosen];
            ready_[chosen] = ready_.back();
            ready_.truncate(ready_.size() - 1);
            order_.push_reserved(op);
            lock.unlock();
            const Status status = this->run(op);
            lock.lock();
            if (!status.ok()) turn.failure = status;
            --turn.left;
            for (const OpIndex follower : followers_[to_integer(op)]) {
                if (--open_[to_integer(follower)] == 0) ready_.push_reserved(follower);
            }
            turn.wake.notify_all();
        }
        turn.wake.notify_all();
    }

    [[nodiscard]] std::uint64_t next_random() noexcept {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return random_;
    }

    AdversaryOptions options_;
    std::uint64_t random_;
    detail::Csr<OpIndex> followers_;  // by op
    detail::Array<OpIndex> ready_;
    detail::Array<std::uint32_t> open_;  // by op: dependencies not finished
    detail::Array<OpIndex> order_;
};

}  // namespace graphjit::inline v0
