#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "tidemill/dvbs2/receiver/symbol_tap.hpp"

namespace tidemill::dvbs2 {

/// Keeps what a SymbolTap gives of a receiver's first frames.
class ConstellationTap final : public Observer {
  public:
    explicit ConstellationTap(std::uint64_t frames)
        : tap_([this](std::uint64_t frame, std::vector<dsp::Iq> symbols) { keep(frame, std::move(symbols)); },
               frames) {}

    ThreadObserver& watch(const ObservedThread& thread) override { return tap_.watch(thread); }

    /// All that were kept, frame by frame, in any order of execution; between runs.
    std::vector<dsp::Iq> symbols() const;

  private:
    void keep(std::uint64_t frame, std::vector<dsp::Iq> symbols);

    SymbolTap tap_;
    std::mutex mutex_;  // replicas pass frames at the same time
    std::map<std::uint64_t, std::vector<dsp::Iq>> kept_;
};

}  // namespace tidemill::dvbs2
