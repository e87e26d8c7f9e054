#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/observer.hpp"

namespace tidemill {

/// Times of a graph's units for a while.
struct LiveWindow {
    std::uint64_t frames = 0;          ///< that the source began
    std::vector<double> weights_us{};  ///< per unit and source frame; 0 where nothing ran
};

/// Profiles the units of a graph while it runs: give it to RunOptions::observers and ask from any thread.
class LiveProfile final : public Observer {
  public:
    explicit LiveProfile(const Structure& structure);

    ThreadObserver& watch(const ObservedThread& thread) override;

    /// Observations since the last take(); fewer frames than `least` are left until there are more, and none
    /// returned.
    LiveWindow take(std::uint64_t least_frames = 1);

  private:
    // One thread adds, any reads.
    struct Sum {
        std::atomic<std::uint64_t> ticks{0};
        std::atomic<std::uint64_t> calls{0};
    };

    class Thread final : public ThreadObserver {
      public:
        explicit Thread(std::size_t steps) : sums_(steps) {}
        void called(const ObservedCall& call) override;
        const Sum& sum(std::size_t step) const { return sums_[step]; }

      private:
        std::vector<Sum> sums_;  // per step
    };

    LiveWindow totals() const;

    const Structure& structure_;
    std::mutex mutex_;  // guards what follows
    std::deque<Thread> threads_;
    LiveWindow taken_;
};

}  // namespace tidemill
