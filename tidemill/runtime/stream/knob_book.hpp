#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/knob.hpp"
#include "tidemill/runtime/graph/knob_layout.hpp"
#include "tidemill/runtime/stream/knob_table.hpp"
#include "tidemill/runtime/threads/spin_lock.hpp"

namespace tidemill {

/// Values of knobs by the source frame from which they hold.
///
/// A thread that begins a frame claims it first, and a thread that sets knobs does so from the first frame
/// that nobody has claimed: so the number of a change is known at once, and no frame begins under the wrong
/// values, however many threads begin frames. A setter keeps claims out only while it enters its change.
class KnobBook {
  public:
    /// Gets each change, in their order: what was set, and where it holds.
    using Listener = std::function<void(const KnobSettings&, std::uint64_t frame)>;

    explicit KnobBook(const Graph& graph);
    /// That of a graph, which all its executors share: so values hold under any executor.
    static std::shared_ptr<KnobBook> of(Graph& graph);
    KnobBook(const KnobBook&) = delete;
    KnobBook& operator=(const KnobBook&) = delete;

    const KnobLayout& layout() const { return layout_; }

    /// Changes knobs, from any thread. Throws GraphError for a knob of another graph or no value for it, and
    /// RunError when the stream has ended; then nothing is changed.
    SetAt set(const KnobSettings& settings);

    /// Has a change hold from `from` on that a task said on frame `teller`: over whatever set() says of that
    /// frame, and over what tasks said on frames before. Throws as set() does, and GraphError where it is too
    /// late for that frame or the same frame has set another value. Listeners are not called: a later run
    /// gets it from the task.
    void tell(const KnobSettings& settings, std::uint64_t teller, std::uint64_t from);

    /// Frames are numbered from 0 again, under the values that held last. Changes that were set for later
    /// frames stay, those that tasks set do not, and knobs can be set again.
    void restart();
    /// Threads as many as `beginners` are going to begin frames from `first_frame` on. No tokens are in use.
    void start(std::uint64_t first_frame, std::size_t beginners);
    /// The stream ended: nothing can be set any more, until start().
    void end();

    /// The values that hold at a frame.
    std::vector<std::byte> values_at(std::uint64_t frame) {
        const std::lock_guard lock(lock_);
        return holding_at(frame)->table->copy();
    }

    /// Calls `listener` for all changes from now on, first of the values that hold at `first_frame` and of
    /// those that are known to come; none: calls nobody.
    void listen(Listener listener, std::uint64_t first_frame);

    /// The values that hold at a frame, all of them, and then what is known to change behind it.
    std::vector<KnobSettings> settings_from(std::uint64_t first_frame);

    /// How many tables there are: those that hold or will, and those that some token names.
    std::size_t tables() {
        const std::lock_guard lock(lock_);
        return timeline_.size() + passed_.size();
    }

    /// A thread that begins frames, in their order.
    class Beginner {
      public:
        /// A beginner of frames, the last `again` of which may have to be begun again by the next crew.
        Beginner(KnobBook& book, std::size_t index, std::uint64_t again = 0)
            : book_(&book), index_(index), again_(again) {}

        /// The values under which `frame` begins.
        KnobTable* begin(std::uint64_t frame) {
            book_->claim(frame + 1);
            const bool known = book_->changes_.load(std::memory_order_relaxed) == seen_ && frame < until_;
            if (!known) look_up(frame);
            return table_;
        }

      private:
        void look_up(std::uint64_t frame);

        KnobBook* book_;
        std::size_t index_;
        std::uint64_t again_;
        KnobTable* table_ = nullptr;
        std::uint64_t until_ = 0;  // the table holds for the frames before this one
        std::uint64_t seen_ = 0;   // changes
    };

  private:
    struct Patch {
        std::uint32_t offset;
        std::vector<std::byte> bytes;
        std::uint64_t told = 0;  // one past the frame on which a task said so; 0: it was set

        /// The later of two values of one knob for one frame counts.
        bool replaces(const Patch& other) const { return told == other.told && offset == other.offset; }
        bool contradicts(const Patch& other) const {
            return told > 0 && replaces(other) && bytes != other.bytes;
        }
    };
    struct Change {
        std::uint64_t from;
        std::unique_ptr<KnobTable> table;
        std::vector<Patch> patches;  // what it changes itself: values of set(), then those of tasks
    };
    using Timeline = std::deque<Change>;

    /// While it lives, nobody claims a frame that was not claimed before.
    class Hold;

    void claim(std::uint64_t end) {
        std::uint64_t seen = claimed_.load(std::memory_order_acquire);
        while ((seen & ~kHeld) < end) {
            if (seen & kHeld) {
                const std::lock_guard wait(lock_);
                seen = claimed_.load(std::memory_order_acquire);
            } else if (claimed_.compare_exchange_weak(seen, end, std::memory_order_acq_rel,
                                                      std::memory_order_acquire)) {
                return;
            }
        }
    }

    std::vector<Patch> patches_of(const KnobSettings& settings, std::uint64_t told = 0) const;
    KnobSettings settings_of(const Change& change, bool all) const;
    std::vector<KnobSettings> known_from(std::uint64_t first_frame);
    Timeline::iterator holding_at(std::uint64_t frame);
    void check_open() const;
    void check_told_once(std::uint64_t from, const std::vector<Patch>& patches);
    void enter(std::uint64_t from, std::vector<Patch> patches, std::unique_ptr<KnobTable> table);
    void make_anew(Timeline::iterator first);
    void forget_told();
    void forget();
    void copy(const KnobTable& from, KnobTable& to) const;
    static void apply(const std::vector<Patch>& patches, const KnobTable& table);

    static constexpr std::uint64_t kHeld = std::uint64_t{1} << 63;

    const Graph& graph_;
    const std::size_t graph_size_;
    const KnobLayout layout_;
    alignas(64) std::atomic<std::uint64_t> claimed_{0};  // one past the last source frame begun, and kHeld
    std::atomic<std::uint64_t> changes_{1};

    alignas(64) BriefLock lock_;  // guards what follows; the thread that keeps claims out has it
    Timeline timeline_;           // by frame; the first holds where the frames in hand begin
    std::vector<std::unique_ptr<KnobTable>> passed_;  // no frame begins under them any more
    std::vector<std::uint64_t> hands_;  // per thread that begins frames, one it has not got beyond
    Listener listener_;
    bool ended_ = false;
};

}  // namespace tidemill
