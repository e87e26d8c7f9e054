#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/runtime/report/observer.hpp"

namespace tidemill::dvbs2 {

/// Hands out the data symbols of a receiver's frames as its demapper gets them, over their amplitude: unit
/// energy in the mean. Looks into a run of Receiver::graph() without being part of it.
class SymbolTap final : public Observer {
  public:
    /// Is given a frame's number and its symbols, by the thread that has them: several where the frames are
    /// shared out.
    using Tell = std::function<void(std::uint64_t frame, std::vector<dsp::Iq> symbols)>;

    /// Tap on the first `frames`.
    explicit SymbolTap(Tell tell, std::uint64_t frames = kEndless)
        : tell_(std::move(tell)), frames_(frames) {}

    ThreadObserver& watch(const ObservedThread& thread) override;

  private:
    class Thread final : public ThreadObserver {
      public:
        explicit Thread(const SymbolTap& tap) : tap_(tap) {}
        void called(const ObservedCall& call) override;

      private:
        const SymbolTap& tap_;
    };

    Tell tell_;
    std::uint64_t frames_;
    std::deque<Thread> threads_;
};

}  // namespace tidemill::dvbs2
