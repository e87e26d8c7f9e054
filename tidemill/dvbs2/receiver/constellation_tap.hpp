#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/run/observer.hpp"

namespace tidemill::dvbs2 {

/// Keeps the data symbols of a receiver's first frames as its demapper gets them, over their amplitude: unit
/// energy in the mean. Looks into a run of Receiver::graph() without being part of it.
class ConstellationTap final : public Observer {
  public:
    explicit ConstellationTap(std::uint64_t frames) : frames_(frames) {}

    ThreadObserver& watch(const ObservedThread& thread) override;

    /// All that were kept, frame by frame, whoever ran them in whatever order; between runs.
    std::vector<dsp::Iq> symbols() const;

  private:
    class Thread final : public ThreadObserver {
      public:
        explicit Thread(ConstellationTap& tap) : tap_(tap) {}
        void called(const ObservedCall& call) override;

      private:
        ConstellationTap& tap_;
    };

    void keep(std::uint64_t frame, std::vector<dsp::Iq> symbols);

    std::uint64_t frames_;
    std::mutex mutex_;  // replicas pass frames at the same time
    std::map<std::uint64_t, std::vector<dsp::Iq>> kept_;
    std::deque<Thread> threads_;
};

}  // namespace tidemill::dvbs2
