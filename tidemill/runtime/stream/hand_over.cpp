#include "tidemill/runtime/stream/hand_over.hpp"

#include <fmt/format.h>

#include "tidemill/machine/inside_run.hpp"
#include "tidemill/machine/making_process.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill::internal {

namespace {

constexpr std::size_t kMostFrames = std::size_t{1} << 20;
constexpr long kNapNs =
    10'000'000;  // a pass wakes at once: this is for a waiter that may be stopped meanwhile

TokenLayout layout_of(std::size_t frame_bytes, const HandOverOptions& options) {
    if (options.frames == 0) throw GraphError("room for 0 frames: let at least one wait");
    if (options.frames > kMostFrames)
        throw GraphError(fmt::format("room for {} frames: at most {} may wait", options.frames, kMostFrames));
    if (options.patience.count() < 0)
        throw GraphError(fmt::format("a patience of {} ms: give more than 0, or 0 to wait for ever",
                                     options.patience.count()));
    return {.tokens = options.frames, .frames = 1, .frame_bytes = frame_bytes};
}

}  // namespace

HandOver::HandOver(std::size_t frame_bytes, const HandOverOptions& options)
    : ring_(layout_of(frame_bytes, options), 2, options.waiting != WaitMode::active),
      spins_(options.waiting == WaitMode::passive ? RealThreads::kShortSpin
             : options.waiting == WaitMode::mixed ? RealThreads::kLongSpin
                                                  : RealThreads::kSpinBeforeYield),
      giver_(ring_.at(0)),
      taker_(ring_.at(0)) {}

Token* HandOver::look(const TokenCursor& cursor, std::uint32_t stage) {
    for (int spin = 0; spin < spins_; ++spin) {
        if (Token* token = ring_.try_take(cursor, stage)) return token;
        RealThreads::relax();
    }
    return nullptr;
}

// Frames that were passed before the answer was no are there at the last look.
Token* HandOver::wait(const TokenCursor& cursor, std::uint32_t stage, const GoesOn& goes_on) {
    while (!ring_.ended_before(cursor.batch) && goes_on()) {
        if (Token* token = look(cursor, stage)) return token;
        if (Token* token = ring_.nap(cursor, stage, kNapNs)) return token;
    }
    return ring_.try_take(cursor, stage);
}

void HandOver::begin_run(const std::stop_token& stop) {
    stopped_.store(false, std::memory_order_relaxed);
    run_.store(InsideRun::innermost(), std::memory_order_relaxed);
    forks_.store(forks_so_far(), std::memory_order_relaxed);
    mark_finished(false);
    asked_.emplace(stop, [this] { stopped_.store(true, std::memory_order_relaxed); });
}

void HandOver::end_run() {
    asked_.reset();
    run_.store(nullptr, std::memory_order_relaxed);
    mark_finished(true);
}

void HandOver::check_may_wait(const std::string& call) const {
    const void* const run = run_.load(std::memory_order_relaxed);
    if (run && InsideRun::of(run))
        throw RunError(fmt::format(
            "{} waits for the run, and was called by the run itself, which would wait for ever: let another "
            "thread call it, or what does not wait",
            call));
    if (!run || forks_.load(std::memory_order_relaxed) == forks_so_far()) return;
    throw RunError(
        fmt::format("{} waits for a run that goes on in the process from which this one was forked", call));
}

void Spill::put(std::uint64_t number, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    frames_.push_back({number, {bytes.begin(), bytes.end()}});
    holds_some_.store(true, std::memory_order_release);
}

bool Spill::take(SpilledFrame& into) {
    const std::lock_guard lock(mutex_);
    if (frames_.empty()) return false;
    into = std::move(frames_.front());
    frames_.pop_front();
    holds_some_.store(!frames_.empty(), std::memory_order_release);
    return true;
}

}  // namespace tidemill::internal
