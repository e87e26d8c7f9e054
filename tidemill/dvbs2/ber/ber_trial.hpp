#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "tidemill/dvbs2/ber/ber_counts.hpp"
#include "tidemill/dvbs2/ber/ber_point.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Adds up counts in the order of their frames, and ends the stream when there are enough errors: so the
/// number of threads changes nothing.
class BerMonitor final : public Module {
  public:
    BerMonitor(const BerLimits& limits, const BerCounts& so_far);

    In<BerCounts> counts = in<BerCounts>("counts");
    Task add = task("add", &BerMonitor::add_counts);

    const BerCounts& total() const { return total_; }
    /// May be read while the monitor runs.
    std::uint64_t live_frames() const { return live_frames_.load(std::memory_order_relaxed); }
    std::uint64_t live_errors() const { return live_errors_.load(std::memory_order_relaxed); }

  private:
    Flow add_counts(Frame f);

    BerLimits limits_;
    BerCounts total_;
    std::atomic<std::uint64_t> live_frames_;
    std::atomic<std::uint64_t> live_errors_;
};

/// Counts the errors of one point. Frames are made, received and compared by a graph; which frames they are
/// follows from the counts so far, so that a count that was broken off goes on where it stood.
class BerTrial {
  public:
    /// Throws Dvbs2Error when the point cannot be sent, or begins inside a burst.
    BerTrial(const BerPoint& point, const BerLimits& limits, const BerCounts& so_far = {});

    /// Counts on until a limit is reached or `stop` says so; on the calling thread when `threads` is 1.
    BerCounts run(int threads, std::stop_token stop = {});

    const BerMonitor& monitor() const { return *monitor_; }

  private:
    void make_ideal(const BerPoint& point);

    std::uint64_t frames_per_turn_;  // of the graph
    std::uint64_t first_frame_;
    Graph graph_{"dvbs2-ber"};
    BerMonitor* monitor_;
};

}  // namespace tidemill::dvbs2
