#include <graphjit/backend/thread_queue.hpp>

#include <graphjit/backend/hcq_timeline.hpp>

#include "support/random.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

namespace detail = graphjit::detail;
using detail::ThreadCommand;
using detail::ThreadCommands;
using detail::ThreadCounter;
using detail::ThreadCrowd;
using detail::ThreadQueue;

constexpr std::uint32_t turn_counts[] = {0, 1, 200};

/// Waits for what must come, but not for ever: a wake-up that is lost is to be a failure.
template <class Condition>
[[nodiscard]] bool comes(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (unsigned i = 0; !condition(); ++i) {
        if (i % 64 != 63) {
            detail::relax();
        } else if (std::chrono::steady_clock::now() > end) {
            return false;
        } else {
            std::this_thread::yield();
        }
    }
    return true;
}
void idle(test::Random& random, unsigned most_turns) {
    for (unsigned i = random.below(most_turns); i > 0; --i) detail::relax();
}

// --- What is submitted: commands that write down their number --------------------------------------------------------

struct Journal {
    std::vector<std::uint32_t> numbers;  // of one queue, so that nothing else need order them
    std::atomic<std::uint32_t> over{0};
};
struct Note {
    Journal* journal = nullptr;
    std::uint32_t number = 0;
};
const std::byte* write_note(const std::byte* block) {
    Note note;
    std::memcpy(&note, block, sizeof note);
    note.journal->numbers.push_back(note.number);
    note.journal->over.fetch_add(1, std::memory_order_release);
    return block;
}

/// Submissions of one command each, numbered from 0.
class Notes {
public:
    explicit Notes(std::uint32_t count) : notes_(count), commands_(count) {
        journal_.numbers.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            notes_[i] = {&journal_, i};
            commands_[i] = {&write_note, reinterpret_cast<const std::byte*>(&notes_[i])};
        }
    }

    [[nodiscard]] ThreadCommands commands(std::uint32_t i, std::uint32_t count = 1) {
        return {commands_.data() + i, commands_.data() + i + count};
    }
    [[nodiscard]] std::uint32_t over() const { return journal_.over.load(std::memory_order_acquire); }
    /// Each once and in order. Pre: all are over.
    [[nodiscard]] bool are_in_order() const {
        for (std::uint32_t i = 0; i < journal_.numbers.size(); ++i) {
            if (journal_.numbers[i] != i) return false;
        }
        return journal_.numbers.size() == notes_.size();
    }

private:
    Journal journal_;
    std::vector<Note> notes_;
    std::vector<ThreadCommand> commands_;
};

// --- ThreadCrowd and ThreadCounter -----------------------------------------------------------------------------------

TEST_CASE("ThreadCrowd: crowded when more are awake than there are cores, the one that replays among them") {
    ThreadCrowd crowd(5, 2);
    CHECK(crowd.turns() == 5);
    CHECK(!crowd.is_crowded());
    crowd.enter();
    CHECK(!crowd.is_crowded());
    crowd.enter();
    CHECK(crowd.is_crowded());
    crowd.leave();
    CHECK(!crowd.is_crowded());
}

TEST_CASE("ThreadCounter: waiting for what is there takes no time, and counters share no cache line") {
    ThreadCrowd crowd(0, 1);
    ThreadCounter counter;
    CHECK(counter.value() == 0);
    counter.set(3);
    counter.add_one();
    CHECK(counter.value() == 4);
    counter.wait_until(crowd, [](std::uint32_t value) { return value >= 4; });
    CHECK(sizeof(ThreadCounter) == 64);
}

TEST_CASE("ThreadCounter: two threads wait for each other, round after round, awake and asleep") {
    constexpr std::uint32_t rounds = 3'000;
    for (const std::uint32_t turns : turn_counts) {
        INFO("turns ", turns);
        for (const std::uint32_t cores : {1u, 8u}) {
            ThreadCrowd crowd(turns, cores);
            ThreadCounter to, fro;
            std::thread other([&] {
                test::Random random(1);
                for (std::uint32_t i = 1; i <= rounds; ++i) {
                    to.wait_until(crowd, [i](std::uint32_t value) { return value >= i; });
                    idle(random, 60);
                    fro.set(i);
                }
            });
            test::Random random(2);
            for (std::uint32_t i = 1; i <= rounds; ++i) {
                idle(random, 60);
                to.add_one();
                fro.wait_until(crowd, [i](std::uint32_t value) { return value >= i; });
            }
            other.join();
            CHECK(fro.value() == rounds);
            CHECK(!crowd.is_crowded());  // whoever slept is counted again
        }
    }
}

TEST_CASE("ThreadCounter: everyone who sleeps wakes, each for a value of his own") {
    ThreadCrowd crowd(0, 1);
    ThreadCounter counter;
    std::atomic<std::uint32_t> early = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t t = 1; t <= 5; ++t) {
        threads.emplace_back([&, t] {
            counter.wait_until(crowd, [t](std::uint32_t value) { return value >= t; });
            if (counter.value() < t) ++early;
        });
    }
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        counter.add_one();
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(early == 0);
}

// --- ThreadQueue -----------------------------------------------------------------------------------------------------

TEST_CASE("ThreadQueue: runs what is submitted, in order and once, more than it has room for at a time") {
    for (const std::uint32_t turns : turn_counts) {
        INFO("turns ", turns);
        ThreadCrowd crowd(turns, 2);
        Notes notes(2'000);
        ThreadQueue queue(crowd);
        REQUIRE(queue.start(-1) == 0);
        for (std::uint32_t i = 0; i < 2'000; ++i) {
            queue.wait_for_room();
            queue.submit(notes.commands(i), true);
        }
        REQUIRE(comes([&] { return notes.over() == 2'000; }));
        CHECK(notes.are_in_order());
    }
}

TEST_CASE("ThreadQueue: a submission of many commands, and one of none") {
    ThreadCrowd crowd(0, 2);
    Notes notes(100);
    ThreadQueue queue(crowd);
    REQUIRE(queue.start(-1) == 0);
    queue.submit(notes.commands(0, 0), true);
    queue.submit(notes.commands(0, 99), true);
    queue.submit(notes.commands(99), true);
    REQUIRE(comes([&] { return notes.over() == 100; }));
    CHECK(notes.are_in_order());
}

TEST_CASE("ThreadQueue: stop runs what was submitted, whenever it comes; once is enough") {
    test::Random random(1);
    for (unsigned round = 0; round < 300; ++round) {
        ThreadCrowd crowd(turn_counts[round % 3], 2);
        const std::uint32_t count = random.below(20);
        Notes notes(count);
        ThreadQueue queue(crowd);
        REQUIRE(queue.start(-1) == 0);
        idle(random, 300);
        for (std::uint32_t i = 0; i < count; ++i) queue.submit(notes.commands(i), true);
        idle(random, 300);
        queue.stop();
        CHECK(notes.are_in_order());
        if (round % 2 == 0) queue.stop();
    }
    ThreadCrowd crowd(0, 1);
    ThreadQueue never_started(crowd);
    never_started.stop();
}

TEST_CASE("ThreadQueue: a core that is not there is an error, and nothing is left to stop") {
    ThreadCrowd crowd(0, 1);
    ThreadQueue queue(crowd);
    CHECK(queue.start(1023) != 0);
    queue.stop();
}

TEST_CASE("ThreadQueue: who holds it runs it; its own thread does not, nor can another take it") {
    ThreadCrowd crowd(0, 2);
    Notes notes(3);
    ThreadQueue queue(crowd);
    REQUIRE(queue.start(-1) == 0);
    for (std::uint32_t turn = 0; turn < 3; ++turn) {
        // Its thread holds it for a moment after it has run something.
        REQUIRE(comes([&] { return queue.take(); }));
        CHECK(!queue.take());
        queue.submit(notes.commands(turn), turn == 1);  // woken or not
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(notes.over() == turn);
        queue.help();
        CHECK(notes.over() == turn + 1);
    }
    queue.stop();
    CHECK(notes.are_in_order());
}

TEST_CASE("ThreadQueue: who helps runs the submission he took it for, its own thread what came behind") {
    ThreadCrowd crowd(0, 2);
    Notes notes(3);
    ThreadQueue queue(crowd);
    REQUIRE(queue.start(-1) == 0);
    REQUIRE(queue.take());
    queue.submit(notes.commands(0), false);
    queue.submit(notes.commands(1), true);
    queue.submit(notes.commands(2), true);
    CHECK(!queue.take());
    queue.help();
    CHECK(notes.over() >= 1);
    REQUIRE(comes([&] { return notes.over() == 3; }));
    CHECK(notes.are_in_order());
}

TEST_CASE("ThreadQueue: no wake-up is lost where its thread and one that helps compete") {
    for (const std::uint32_t turns : turn_counts) {
        INFO("turns ", turns);
        constexpr std::uint32_t rounds = 10'000;
        ThreadCrowd crowd(turns, 2);
        Notes notes(rounds * 3);
        ThreadQueue queue(crowd);
        REQUIRE(queue.start(-1) == 0);
        test::Random random(turns);
        std::uint32_t submitted = 0;
        unsigned helped = 0;
        for (std::uint32_t round = 0; round < rounds; ++round) {
            for (std::uint32_t i = random.below(4); i > 0; --i) {
                const bool taken = random.chance(60) && queue.take();
                queue.submit(notes.commands(submitted++), !taken);
                if (taken) {
                    idle(random, 20);
                    queue.help();
                    ++helped;
                }
                idle(random, 100);
            }
            // The last of a round decides: nothing comes afterwards that would wake the thread as well.
            REQUIRE(comes([&] { return notes.over() == submitted; }));
        }
        CHECK(helped > 100);
        for (; submitted < rounds * 3; ++submitted) {
            queue.wait_for_room();
            queue.submit(notes.commands(submitted), true);
        }
        queue.stop();
        CHECK(notes.are_in_order());
    }
}

TEST_CASE("ThreadQueue: what others submit while somebody helps is run, too") {
    for (const std::uint32_t turns : turn_counts) {
        INFO("turns ", turns);
        constexpr std::uint32_t count = 9'000;
        ThreadCrowd crowd(turns, 2);
        Notes notes(count);
        ThreadQueue queue(crowd);
        REQUIRE(queue.start(-1) == 0);
        graphjit::Turnstile turnstile;
        std::uint32_t next = 0;
        std::atomic<unsigned> lost = 0;
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < 3; ++t) {
            threads.emplace_back([&, t] {
                test::Random random(t);
                for (std::uint32_t i = 0; i < count / 3; ++i) {
                    bool taken = false;
                    std::uint32_t mine = 0;
                    {
                        const graphjit::PassTurnstile alone(turnstile);
                        queue.wait_for_room();
                        taken = random.chance(60) && queue.take();
                        mine = next++;
                        queue.submit(notes.commands(mine), !taken);
                    }
                    if (taken) queue.help();
                    if (random.chance(30) && !comes([&] { return notes.over() > mine; })) ++lost;
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(lost == 0);
        REQUIRE(comes([&] { return notes.over() == count; }));
        CHECK(notes.are_in_order());
    }
}

TEST_CASE("ThreadQueue: stop waits for one that helps, and for what came behind") {
    test::Random random(7);
    for (unsigned round = 0; round < 200; ++round) {
        ThreadCrowd crowd(turn_counts[round % 3], 2);
        Notes notes(4);
        auto queue = std::make_unique<ThreadQueue>(crowd);
        REQUIRE(queue->start(-1) == 0);
        std::atomic<bool> taken = false;
        std::thread helper([&] {
            const bool mine = queue->take();
            for (std::uint32_t i = 0; i < 4; ++i) queue->submit(notes.commands(i), !mine);
            taken = true;
            test::Random own(round);
            idle(own, 200);
            if (mine) queue->help();
        });
        REQUIRE(comes([&] { return taken.load(); }));
        idle(random, 200);
        queue->stop();
        CHECK(notes.over() == 4);
        helper.join();
        CHECK(notes.are_in_order());
    }
}

}  // namespace
