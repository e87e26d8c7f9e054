#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/runtime/threads/bell.hpp"
#include "tidemill/runtime/threads/patience.hpp"
#include "tidemill/runtime/threads/ready_work.hpp"
#include "tidemill/runtime/threads/real_threads.hpp"
#include "tidemill/runtime/threads/spin_lock.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

/// Workers that share one board of tasks. Each takes its turn at the board under a lock, where it gives back
/// what it has done and gets more, and works between turns. What costs less than a turn is handed out by the
/// bundle, and nobody is woken for less, so turns are few beside the work.
///
/// A board knows no threads. It has
///
///     using Hand = ...;                        // what a worker holds between its turns, with empty()
///     void settle(WorkerId, Hand&);            // takes back what is done, and empties the hand
///     void take(WorkerId, peers, Hand&);       // ready tasks, a fair share where `peers` want some
///     bool may_take(WorkerId) const;           // whether the ready tasks are for this worker
///     const ReadyWork& ready() const;
///     std::uint64_t expected_ticks(const Hand&) const;
///     std::optional<WorkerId> released();      // one that waited for something else than work
///     long patience_ns(WorkerId);              // until a worker that got nothing asks again
///
/// and a worker run(Hand&), rests(), and rested(woken), called when nothing has come for milliseconds.
template <class Board, class Threads = RealThreads>
class WorkerPool {
  public:
    using Hand = typename Board::Hand;
    using WorkerId = policy::WorkerId;

    struct Settings {
        std::vector<policy::KindId> kinds{0};  ///< of each worker's core
        std::uint64_t bundle_ticks = 0;        ///< what a worker gets at once, about
        WaitMode waiting = WaitMode::mixed;
    };

    /// The board must outlive this.
    WorkerPool(Board& board, Settings settings)
        : settings_(std::move(settings)),
          seats_(settings_.kinds.size() + 1),
          board_(board),
          idle_(1 + std::ranges::max(settings_.kinds)) {}

    /// The place of a thread that waits at the board, but takes nothing.
    WorkerId visitor() const { return static_cast<WorkerId>(settings_.kinds.size()); }

    /// The calling thread is that worker until `leaves()`, which is asked at each of its turns.
    template <class Worker, class Leaves>
    void serve(WorkerId self, Worker& worker, Leaves leaves) {
        Seat& seat = seats_[self];
        if (!seat.hand.empty()) worker.run(seat.hand);  // where a forced unwind has ended it
        while (true) {
            Seat* other = nullptr;
            Seat* released = nullptr;
            bool done = false;
            {
                const std::lock_guard lock(turn_);
                board_.settle(self, seat.hand);
                done = leaves();
                if (!done) take(self);
                other = next_to_wake(self);
                released = next_released();
            }
            if (released) released->bell.ring();
            if (other) other->bell.ring();
            if (done) return;
            if (seat.hand.empty()) {
                worker.rests();
                worker.rested(rest(self));
            } else {
                worker.run(seat.hand);
            }
        }
    }

    /// Takes a turn to change the board; wakes workers that have work then.
    template <class Change>
    void change(Change change) {
        Seat* other = nullptr;
        {
            const std::lock_guard lock(turn_);
            change();
            other = next_to_wake(visitor());
        }
        if (other) other->bell.ring();
    }

    /// Takes a turn to look at what the lock guards.
    template <class Look>
    auto look(Look look) const {
        const std::lock_guard lock(turn_);
        return look();
    }

    /// Wakes all, so that they ask whether to leave.
    void ring_all() {
        for (Seat& seat : seats_) seat.bell.ring();
    }

    /// Whether somebody waits for work; from any thread, and perhaps no longer so.
    bool anyone_idle() const { return idle_workers_.load(std::memory_order_relaxed) != 0; }

  private:
    struct alignas(64) Seat {
        Hand hand;
        Bell<Threads> bell;
        long patience_ns = 0;
        bool overdue = false;  // nothing has come for so long that it takes whatever there is
    };

    policy::KindId kind_of(WorkerId worker) const {
        return worker < visitor() ? settings_.kinds[worker] : policy::KindId{0};
    }

    void take(WorkerId self) {
        if (self == visitor()) return;
        Seat& seat = seats_[self];
        if (seat.overdue || board_.may_take(self)) board_.take(self, idle_peers(kind_of(self)), seat.hand);
        seat.overdue = false;
        if (!seat.hand.empty()) return;
        seat.patience_ns = board_.patience_ns(self);
        idle_[kind_of(self)].push_back(self);
        count_idle(1);
    }

    // How many others the ready tasks are to be shared with.
    std::size_t idle_peers(policy::KindId kind) const {
        if (board_.ready().of(kind).ticks < settings_.bundle_ticks) return 0;
        std::size_t others = 0;
        for (policy::KindId each = 0; each < idle_.size(); ++each)
            if (!idle_[each].empty() && board_.ready().of_both(kind, each).tasks > 0)
                others += idle_[each].size();
        return others;
    }

    // A woken worker wakes the next one, also when others have taken the work it was woken for.
    Seat* next_to_wake(WorkerId self) {
        for (policy::KindId kind = 0; kind < idle_.size(); ++kind) {
            std::vector<WorkerId>& idle = idle_[kind];
            if (idle.empty() || !is_worth_waking(kind, self)) continue;
            const auto last =
                std::find_if(idle.rbegin(), idle.rend(), [this](WorkerId w) { return board_.may_take(w); });
            if (last == idle.rend()) continue;
            Seat& other = seats_[*last];
            idle.erase(std::prev(last.base()));
            count_idle(-1);
            return &other;
        }
        return nullptr;
    }

    Seat* next_released() {
        const auto waiting = board_.released();
        if (!waiting) return nullptr;
        leave_idle(*waiting);
        return &seats_[*waiting];
    }

    // Little work is left to the worker that has just taken some, but not what that worker cannot run.
    bool is_worth_waking(policy::KindId kind, WorkerId self) const {
        const ReadyWork::Amount ready = board_.ready().of(kind);
        const Hand& own = seats_[self].hand;
        if (ready.tasks == 0) return false;
        if (own.empty() || board_.ready().of_only(kind, kind_of(self)).tasks > 0) return true;
        return ready.ticks + board_.expected_ticks(own) >= settings_.bundle_ticks;
    }

    // Whether it was woken.
    bool rest(WorkerId self) {
        Seat& seat = seats_[self];
        seat.bell.wait(settings_.waiting, self == visitor() ? kPatienceNs : seat.patience_ns);
        const std::lock_guard lock(turn_);
        seat.bell.reset();
        seat.overdue = leave_idle(self);
        return !seat.overdue;
    }

    // Whether it was among the idle.
    bool leave_idle(WorkerId worker) {
        const bool was_idle = std::erase(idle_[kind_of(worker)], worker) != 0;
        if (was_idle) count_idle(-1);
        return was_idle;
    }

    void count_idle(int change) {
        idle_workers_.store(idle_workers_.load(std::memory_order_relaxed) + change,
                            std::memory_order_relaxed);
    }

    Settings settings_;
    std::vector<Seat> seats_;
    typename Threads::template Atomic<int> idle_workers_{0};

    alignas(64) mutable BasicSpinLock<Threads> turn_;  // guards what follows, and the board
    Board& board_;
    typename Threads::template Plain<std::vector<std::vector<WorkerId>>> idle_;  // per kind of core
};

}  // namespace tidemill
