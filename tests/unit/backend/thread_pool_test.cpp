#include <graphjit/backend/thread_pool.hpp>

#include "support/failing_allocations.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

namespace {

namespace gj = graphjit;
using gj::detail::ThreadCounter;
using gj::detail::ThreadPool;
using gj::detail::ThreadSignal;

/// Held as graphs hold it.
struct Held {
    explicit Held(const gj::ThreadOptions& options) : pool(new(std::nothrow) ThreadPool(options)) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { pool->let_go(); }
    ThreadPool* operator->() const { return pool; }

    ThreadPool* pool;
};

TEST_CASE("ThreadPool: counters are distinct, start where signals start, and come back") {
    const Held pool({.first_value = 40});
    std::vector<ThreadCounter*> counters;
    for (int i = 0; i < 100; ++i) counters.push_back(pool->take_counter());
    std::set<ThreadCounter*> distinct(counters.begin(), counters.end());
    CHECK(distinct.size() == 100);
    CHECK(distinct.count(nullptr) == 0);
    for (ThreadCounter* counter : counters) {
        CHECK(counter->value() == 40);
        counter->set(70);
    }
    for (ThreadCounter* counter : counters) pool->give_back(counter);
    CHECK(test::allocations_needed([&] {
              for (int i = 0; i < 100; ++i) {
                  ThreadCounter* counter = pool->take_counter();
                  if (counter == nullptr || distinct.erase(counter) != 1 || counter->value() != 40) return false;
              }
              return true;
          }) == 0);
}

TEST_CASE("ThreadSignal: gives its counter back once, whoever has it last") {
    const Held pool({});
    ThreadCounter* const counter = pool->take_counter();
    {
        ThreadSignal first(pool.pool, counter);
        ThreadSignal second(std::move(first));
        CHECK(&second.counter() == counter);
        ThreadSignal third(pool.pool, pool->take_counter());
        CHECK(&third.counter() != counter);
        third = std::move(second);
        CHECK(&third.counter() == counter);
    }
    std::set<ThreadCounter*> again;
    for (int i = 0; i < 31; ++i) again.insert(pool->take_counter());  // all of a slab
    CHECK(again.size() == 31);
    CHECK(again.count(counter) == 1);
}

TEST_CASE("ThreadPool: a queue is started once, when it is first asked for, and each place has its own") {
    const Held pool({.devices = 2, .compute_queues = 2});
    REQUIRE(pool->build());
    std::set<gj::detail::ThreadQueue*> queues;
    for (int round = 0; round < 2; ++round) {
        for (const unsigned device : {0u, 1u}) {
            const auto id = static_cast<gj::DeviceId>(device);
            const gj::QueueRecord records[] = {
                {id, gj::QueueKind::compute, 0}, {id, gj::QueueKind::compute, 1}, {id, gj::QueueKind::copy, 0}};
            for (const gj::QueueRecord& record : records) {
                int error = 1;
                queues.insert(pool->queue(record, error));
                CHECK(error == 0);
            }
        }
    }
    CHECK(queues.size() == 6);
    CHECK(queues.count(nullptr) == 0);
    CHECK(&pool->timeline(gj::DeviceId{0}) != &pool->timeline(gj::DeviceId{1}));
}

TEST_CASE("ThreadPool: where memory runs out there is no pool, no counter and no queue, and nothing is left") {
    const std::int64_t before = test::FailingAllocations::alive();
    CHECK(test::allocations_needed([] {
              ThreadPool* pool = new (std::nothrow) ThreadPool({.devices = 40});
              if (pool == nullptr) return false;
              const bool built = pool->build();
              pool->let_go();
              return built;
          }) == 5);  // the pool, its queues, its timelines, and two slabs of counters
    {
        const Held pool({});
        REQUIRE(pool->build());
        int error = 1;
        {
            const test::FailingAllocations failing(0);
            CHECK(pool->queue({}, error) == nullptr);
        }
        CHECK(error == 0);
        CHECK(pool->queue({}, error) != nullptr);
    }
    CHECK(test::FailingAllocations::alive() == before);
}

}  // namespace
