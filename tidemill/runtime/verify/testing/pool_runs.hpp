#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tidemill/runtime/execute/frame_marks.hpp"
#include "tidemill/runtime/threads/worker_pool.hpp"
#include "tidemill/runtime/verify/testing/explored_threads.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

/// The shipped pool of workers on explored threads, over a board with a handful of tasks.
namespace tidemill::explore {

using policy::WorkerId;

struct PoolTask {
    std::uint32_t before = 0;  // tasks that must be done, as bits
    policy::KindSet kinds = policy::kAnyKind;
};

/// Part of the program's thread: nothing, as all tasks are there; or it adds them, waits at the board until
/// they are done, and may help meanwhile.
enum class Program : std::uint8_t { none, visits, helps };

/// Tasks, workers, and how they wait. A program that helps is the first worker.
struct PoolScenario {
    std::vector<PoolTask> tasks;
    std::vector<policy::KindId> kinds{0, 0};  // of each worker's core
    Program program = Program::visits;
    std::uint32_t waits_behind = 0;  // tasks after which the program waits for all so far; and for the last
    std::uint64_t bundle_tasks = 0;  // that a worker gets at once, at most; 0: one
    bool left_to_program = false;    // while it has no task, others may take one only when they are overdue
    bool placed = false;             // all workers but the first get nothing until they have waited for it
    WaitMode waiting = WaitMode::passive;

    bool marks = false;  // tasks are those of a frame, each of which skips it and makes it late

    bool wakes_nobody = false;     // a wrong turn: no worker is seen to be fit for the ready tasks
    bool forgets_program = false;  // another: nobody learns that the program may go on
    bool marks_alone = false;      // another: each marks the frame as if no other thread did

    WorkerId workers() const { return static_cast<WorkerId>(kinds.size()); }
    WorkerId program_worker() const { return program == Program::helps ? 0 : workers(); }
    std::uint32_t all() const { return (1u << tasks.size()) - 1; }
};

/// Reports of threads on their work.
enum class PoolTold : std::uint8_t { begins, ends, goes_on, misses_mark, made_late };

/// Where the words of a pool and its board lie: what mutations, judge and traces ask.
class PoolWords {
  public:
    explicit PoolWords(const PoolScenario& scenario)
        : tasks_(static_cast<Location>(scenario.tasks.size())), seats_(scenario.workers() + 1) {}

    bool is_bell(Location at) const { return at > tasks_ && at <= tasks_ + seats_; }
    bool is_bell_of(Location at, WorkerId worker) const { return at == tasks_ + 1 + worker; }
    bool is_lock(Location at) const { return at == idle_count() + 1; }
    Location idle_count() const { return tasks_ + seats_ + 1; }

    std::string name_of(Location at) const {
        if (at == 0) return "board";
        if (at <= tasks_) return fmt::format("product {}", at - 1);
        if (is_bell(at)) return fmt::format("bell {}", at - tasks_ - 1);
        if (at == idle_count()) return "count of idle workers";
        return is_lock(at) ? "lock" : "idle workers";
    }

  private:
    Location tasks_;
    Location seats_;
};

/// As WorkerPool wants it. All that changes is one word.
class ExploredBoard {
  public:
    struct Hand {
        std::uint32_t tasks = 0;
        bool empty() const { return tasks == 0; }
    };

    explicit ExploredBoard(const PoolScenario& scenario)
        : scenario_(scenario), state_(scenario.program == Program::none ? scenario.all() * kAdded : 0) {
        for (const PoolTask& task : scenario.tasks) groups_.push_back(ready_.group_of(task.kinds));
    }

    void add(std::size_t task) { state_.value() |= kAdded << task; }
    void close() { state_.value() |= kClosed; }
    bool closed() const { return state_.value() & kClosed; }
    bool finished() const { return done() == scenario_.all(); }
    /// Whether the program may go on; otherwise it waits.
    bool reached() {
        const bool reached = done() == added();
        state_.value() = reached ? state_.value() & ~kAwaited : state_.value() | kAwaited;
        return reached;
    }

    void settle(WorkerId worker, Hand& hand) {
        turn_ = worker;
        if (worker == scenario_.program_worker()) state_.value() &= ~kBusy;
        state_.value() |= hand.tasks * kDone;
        hand.tasks = 0;
    }
    bool may_take(WorkerId worker) const {
        if (scenario_.wakes_nobody && worker != turn_) return false;
        if (must_wait(worker)) return false;
        return !scenario_.left_to_program || worker == 0 || (state_.value() & kBusy) != 0;
    }
    void take(WorkerId worker, std::size_t idle_peers, Hand& hand) {
        if (must_wait(worker)) {
            state_.value() |= kWaited;  // it was overdue, and asks again
            return;
        }
        const policy::KindId kind = scenario_.kinds[worker];
        const std::size_t share = (ready().of(kind).tasks + idle_peers) / (idle_peers + 1);
        const std::size_t most =
            std::min<std::size_t>(share, std::max<std::uint64_t>(1, scenario_.bundle_tasks));
        for (std::uint32_t left = ready_tasks(); left != 0 && count(hand) < most; left &= left - 1) {
            const int task = std::countr_zero(left);
            if (scenario_.tasks[task].kinds >> kind & 1) hand.tasks |= 1u << task;
        }
        state_.value() |= hand.tasks * kTaken;
        if (worker == scenario_.program_worker() && !hand.empty()) state_.value() |= kBusy;
    }
    const ReadyWork& ready() const {
        const std::uint32_t now = ready_tasks();
        for (std::size_t t = 0; t < groups_.size(); ++t) {
            const std::uint32_t bit = 1u << t;
            if (now & ~counted_ & bit) ready_.add(groups_[t], 1);
            if (~now & counted_ & bit) ready_.remove(groups_[t], 1);
        }
        counted_ = now;
        return ready_;
    }
    std::uint64_t expected_ticks(const Hand& hand) const { return count(hand); }
    static constexpr long patience_ns(WorkerId) { return kPatienceNs; }
    std::optional<WorkerId> released() {
        if (scenario_.forgets_program || !(state_.value() & kAwaited) || done() != added()) return {};
        state_.value() &= ~kAwaited;
        return scenario_.program_worker();
    }

    /// The product of a task is seen by those behind it: by the first of them, as one at a time may look.
    void make_product(std::size_t task) {
        for (std::size_t before = 0; before < task; ++before) {
            if (first_behind(before) == task) products_[before].look();
        }
        products_[task].make();
    }

  private:
    struct Product {
        ExploredPlain<Word> word{0};
        void look() const { static_cast<void>(static_cast<Word>(word)); }
        void make() { word = 1; }
    };

    static constexpr Word kAdded = 1;
    static constexpr Word kTaken = Word{1} << 16;
    static constexpr Word kDone = Word{1} << 32;
    static constexpr Word kAwaited = Word{1} << 48;
    static constexpr Word kClosed = Word{1} << 49;
    static constexpr Word kBusy = Word{1} << 50;    // the program's thread has tasks
    static constexpr Word kWaited = Word{1} << 51;  // so long that all workers may have what they want

    bool must_wait(WorkerId worker) const {
        return scenario_.placed && worker != 0 && (state_.value() & kWaited) == 0;
    }

    static std::size_t count(const Hand& hand) { return static_cast<std::size_t>(std::popcount(hand.tasks)); }
    std::uint32_t part(Word unit) const {
        return static_cast<std::uint32_t>(state_.value() / unit) & scenario_.all();
    }
    std::uint32_t added() const { return part(kAdded); }
    std::uint32_t done() const { return part(kDone); }

    std::size_t first_behind(std::size_t task) const {
        std::size_t behind = 0;
        while (behind < scenario_.tasks.size() && !(scenario_.tasks[behind].before >> task & 1)) ++behind;
        return behind;
    }

    std::uint32_t ready_tasks() const {
        std::uint32_t ready = added() & ~part(kTaken);
        for (std::size_t t = 0; t < scenario_.tasks.size(); ++t) {
            if (scenario_.tasks[t].before & ~done()) ready &= ~(1u << t);
        }
        return ready;
    }

    const PoolScenario& scenario_;
    ExploredGuarded<Word> state_;
    std::vector<Product> products_ = std::vector<Product>(scenario_.tasks.size());
    mutable ReadyWork ready_;
    mutable std::uint32_t counted_ = 0;  // tasks that it counts
    std::vector<std::uint32_t> groups_;
    WorkerId turn_ = 0;
};

/// One thread's view of the pool: all that it shares with others lies in the machine's words.
class ExploredPool {
  public:
    explicit ExploredPool(const PoolScenario& scenario)
        : scenario_(scenario),
          board_(scenario),
          workers_(board_, {scenario.kinds, scenario.bundle_tasks, scenario.waiting}) {}

    void work_as(WorkerId worker) {
        serve(worker, 0,
              [&] { return scenario_.program == Program::none ? board_.finished() : board_.closed(); });
        if (scenario_.program == Program::none) workers_.ring_all();
    }

    /// The program's thread.
    void run_program() {
        for (std::size_t task = 0; task < scenario_.tasks.size(); ++task) {
            landmark(1, task);
            workers_.change([&] { board_.add(task); });
            const std::uint32_t so_far = (2u << task) - 1;
            if (so_far != scenario_.all() && !(scenario_.waits_behind >> task & 1)) continue;
            landmark(2, task);
            serve(scenario_.program_worker(), task, [&] { return board_.reached(); });
            note(static_cast<Word>(PoolTold::goes_on), so_far);
        }
        landmark(3, 0);
        workers_.look([&] { board_.close(); });
        workers_.ring_all();
    }

  private:
    static void landmark(Word where, Word about, Word more = 0) {
        machine->landmark(mixed(mixed(mixed(0, where), about), more));
    }

    // Reports all that the pool remembers of this thread between its turns.
    struct Worker {
        ExploredPool& pool;
        Word phase;

        void run(ExploredBoard::Hand& hand) {
            for (std::uint32_t left = hand.tasks; left != 0; left &= left - 1) {
                const auto task = static_cast<std::size_t>(std::countr_zero(left));
                landmark(5, phase, Word{hand.tasks} << 32 | left);
                note(static_cast<Word>(PoolTold::begins), task);
                ExploredThreads::yield_core();  // others may move while it works
                if (pool.scenario_.marks) {
                    pool.mark(task);
                } else {
                    pool.board_.make_product(task);
                }
                note(static_cast<Word>(PoolTold::ends), task);
            }
            landmark(4, phase, hand.tasks);
        }
        void rests() { landmark(6, phase); }
        void rested(bool woken) { landmark(7, phase, woken); }
    };

    // As a task of a frame that others run tasks of, too.
    void mark(std::size_t task) {
        using Marks = BasicSharedMarks<ExploredThreads>;
        const Word hole = Word{1} << task;
        for (std::uint32_t before = scenario_.tasks[task].before; before != 0; before &= before - 1)
            if (!Marks::has_any(mark_, before & -before))
                note(static_cast<Word>(PoolTold::misses_mark), task);
        if (scenario_.marks_alone) {
            mark_.holes = mark_.holes | hole;
        } else {
            Marks::add_hole(mark_, hole);
        }
        if (Marks::note_late(mark_)) note(static_cast<Word>(PoolTold::made_late), task);
    }

    template <typename Leaves>
    void serve(WorkerId worker, Word phase, Leaves leaves) {
        Worker working{*this, phase};
        workers_.serve(worker, working, leaves);
    }

    const PoolScenario& scenario_;
    ExploredBoard board_;
    WorkerPool<ExploredBoard, ExploredThreads> workers_;
    BasicFrameMark<ExploredThreads> mark_{};
};

}  // namespace tidemill::explore
