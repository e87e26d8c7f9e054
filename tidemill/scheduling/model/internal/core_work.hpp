#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "tidemill/scheduling/static/cost_model.hpp"

namespace tidemill::internal {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Order of events: the earliest first; among equals, in the order in which they were added.
template <class What>
struct Timed {
    double time;
    std::uint64_t order;
    What what;

    bool operator>(const Timed& other) const {
        return time != other.time ? time > other.time : order > other.order;
    }
};
template <class What>
using Agenda = std::priority_queue<Timed<What>, std::vector<Timed<What>>, std::greater<>>;

/// A frame's stay in a stage.
struct Step {
    std::size_t stage;
    std::uint64_t frame;
};

/// Work of modelled cores. Those of a kind do work at a common speed. Work ends when the work that each of
/// them has done since the beginning reaches a mark, so a change of speed moves no mark.
class CoreWork {
  public:
    explicit CoreWork(const std::vector<KindCosts>& cores) : cores_(cores), kinds_(cores.size()) {}

    double now_us() const { return now_us_; }

    /// When the next step ends, and on which kind of cores; kNever where nobody works.
    struct NextEnd {
        double time_us = kNever;
        std::size_t kind = 0;
    };
    NextEnd next_end() const;

    void pass_time_until(double time_us);

    /// A step takes so much work on one core of a kind, of which it has two halves or one.
    void begin(std::size_t kind, int halves, double work_us, std::uint64_t order, Step step);

    /// The step of that kind that ends now.
    Step end(std::size_t kind);

  private:
    struct Work {
        Step step;
        int halves;  // of its core
    };
    struct Kind {
        double work_done_us = 0;
        int busy_halves = 0;  // of its cores
        Agenda<Work> ends{};  // by mark
    };

    double speed(std::size_t kind) const;

    const std::vector<KindCosts>& cores_;
    std::vector<Kind> kinds_;
    double now_us_ = 0;
};

}  // namespace tidemill::internal
