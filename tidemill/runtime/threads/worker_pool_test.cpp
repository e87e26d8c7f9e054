#include "tidemill/runtime/threads/worker_pool.hpp"

#include <atomic>
#include <optional>

#include <doctest/doctest.h>

#include "tidemill/runtime/threads/thread_pool.hpp"

namespace tidemill {
namespace {

using policy::WorkerId;

/// Tasks that are numbers, each ready when the one `width` before it is done. Somebody may wait until all are
/// done.
class CountingBoard {
  public:
    struct Hand {
        std::optional<std::uint64_t> number;
        bool empty() const { return !number; }
    };

    CountingBoard(std::uint64_t tasks, std::uint64_t width, WorkerId waiting)
        : tasks_(tasks), width_(width), waiting_(waiting), group_(ready_.group_of(policy::kAnyKind)) {
        count_ready();
    }

    void settle(WorkerId, Hand& hand) {
        if (!hand.empty()) ++done_;
        hand.number.reset();
        count_ready();
    }
    bool may_take(WorkerId) const { return true; }
    void take(WorkerId, std::size_t, Hand& hand) {
        if (next_ == counted_) return;
        hand.number = next_++;
        ready_.remove(group_, 1);
    }
    const ReadyWork& ready() const { return ready_; }
    std::uint64_t expected_ticks(const Hand&) const { return 1; }
    static constexpr long patience_ns(WorkerId) { return kPatienceNs; }
    std::optional<WorkerId> released() {
        return finished() ? std::exchange(waiting_, std::nullopt) : std::nullopt;
    }

    bool finished() const { return done_ == tasks_; }

  private:
    void count_ready() {
        for (; counted_ < std::min(tasks_, done_ + width_); ++counted_) ready_.add(group_, 1);
    }

    std::uint64_t tasks_;
    std::uint64_t width_;
    std::uint64_t next_ = 0;
    std::uint64_t done_ = 0;
    std::uint64_t counted_ = 0;  // one past the last that is ready or has been
    std::optional<WorkerId> waiting_;
    ReadyWork ready_;
    std::uint32_t group_;
};

struct CountingWorker {
    std::atomic<std::uint64_t>& sum;

    void run(CountingBoard::Hand& hand) { sum += *hand.number; }
    void rests() {}
    void rested(bool) {}
};

}  // namespace

TEST_CASE("a pool of workers runs each task once, and whoever waits for the last one is woken") {
    constexpr std::uint64_t kTasks = 3000;
    for (const WaitMode waiting : {WaitMode::passive, WaitMode::active, WaitMode::mixed}) {
        for (const WorkerId count : {1u, 2u, 5u}) {
            CountingBoard board(kTasks, 3, count);
            WorkerPool<CountingBoard> workers(board, {std::vector<policy::KindId>(count), 0, waiting});
            std::atomic<std::uint64_t> sum{0};
            const auto work_as = [&](WorkerId worker) {
                CountingWorker working{sum};
                workers.serve(worker, working, [&] { return board.finished(); });
                workers.ring_all();
            };
            ThreadPool threads;
            std::vector<ThreadPool::Job> jobs;
            for (WorkerId w = 0; w < count; ++w) jobs.emplace_back([&, w] { work_as(w); });
            threads.start(std::move(jobs));
            work_as(workers.visitor());
            CHECK(sum == kTasks * (kTasks - 1) / 2);
            threads.wait();
            CHECK_FALSE(workers.anyone_idle());
        }
    }
}

TEST_CASE("ready work: what both kinds may run is told from what only one of them may") {
    ReadyWork work;
    work.add(work.group_of(policy::kAnyKind), 5);
    work.add(work.group_of(policy::KindSet{1}), 7);
    CHECK(work.of(0).ticks == 12);
    CHECK(work.of(1).ticks == 5);
    CHECK(work.of_both(0, 1).ticks == 5);
    CHECK(work.of_only(0, 1).ticks == 7);
}

}  // namespace tidemill
