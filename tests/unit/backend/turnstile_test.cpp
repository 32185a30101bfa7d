#include <graphjit/backend/hcq_timeline.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using graphjit::PassTurnstile;
using graphjit::Turnstile;

/// Lets `count` threads pass `rounds` times each; inside they do `work(thread, round)`.
template <class Work>
void pass(unsigned count, unsigned rounds, Work work) {
    Turnstile turnstile;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t) {
        threads.emplace_back([&, t] {
            for (unsigned i = 0; i < rounds; ++i) {
                const PassTurnstile alone(turnstile);
                work(t, i);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST_CASE("Turnstile: a thread that comes alone passes as often as it likes") {
    Turnstile turnstile;
    for (int i = 0; i < 1'000; ++i) {
        turnstile.enter();
        turnstile.leave();
        const PassTurnstile alone(turnstile);
    }
}

TEST_CASE("Turnstile: no two threads are inside, and each gets in as often as it wants") {
    for (const unsigned threads : {2u, 3u, 8u}) {
        INFO("threads ", threads);
        const unsigned rounds = 400'000 / threads;
        std::uint64_t passed = 0;  // not atomic: the turnstile is what orders it
        std::atomic<unsigned> inside = 0;
        std::atomic<unsigned> crowds = 0;
        pass(threads, rounds, [&](unsigned, unsigned) {
            if (inside.fetch_add(1) != 0) ++crowds;
            ++passed;
            inside.fetch_sub(1);
        });
        CHECK(passed == std::uint64_t{threads} * rounds);
        CHECK(crowds == 0);
    }
}

TEST_CASE("Turnstile: those that wait sleep, and all of them are woken, one after the other") {
    std::uint64_t passed = 0;
    // Longer inside than outside, so that nearly everyone finds it taken.
    pass(4, 200, [&](unsigned, unsigned) {
        ++passed;
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    });
    CHECK(passed == 800);
}

TEST_CASE("Turnstile: whoever comes while it is taken gets in when it is left, not before") {
    Turnstile turnstile;
    for (int round = 0; round < 20; ++round) {
        std::atomic<bool> has_left = false;
        std::atomic<unsigned> early = 0;
        std::vector<std::thread> threads;
        turnstile.enter();
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&] {
                const PassTurnstile alone(turnstile);
                if (!has_left) ++early;
            });
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        has_left = true;
        turnstile.leave();
        for (std::thread& thread : threads) thread.join();
        CHECK(early == 0);
        const PassTurnstile alone(turnstile);  // nothing is left of them
    }
}

}  // namespace
