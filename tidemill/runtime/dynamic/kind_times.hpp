#pragma once

#include <string>
#include <vector>

#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/durations.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/static/bound.hpp"

namespace tidemill {

/// Times of units on each kind of core, and how near they came to the best possible.
class KindTimes {
  public:
    /// A kind for each worker, and the kinds' names.
    KindTimes(const Structure& structure, std::vector<policy::KindId> kind_of_worker,
              std::vector<std::string> names);

    policy::KindId kinds() const { return static_cast<policy::KindId>(names_.size()); }

    /// Times of each step of the order on cores of one kind; none where nothing was measured.
    void add(policy::KindId kind, const std::vector<Durations>& step_times);

    /// Adds them to a report that has its frames, units and stages.
    void tell(RunReport& report) const;

  private:
    struct OnKind {
        std::uint64_t frames = 0;
        double total_us = 0;

        double mean_us() const { return total_us / static_cast<double>(frames); }
    };

    const OnKind& on(std::size_t unit, policy::KindId kind) const {
        return times_[unit * names_.size() + kind];
    }
    UnitOnKind report_of(std::size_t unit, policy::KindId kind) const;
    Platform platform() const;
    Chain chain(std::uint64_t frames) const;
    std::size_t absent() const;
    std::string between(const Bound& bound, const RunReport& report) const;

    const Structure& structure_;
    std::vector<policy::KindId> kind_of_worker_;
    std::vector<std::string> names_;
    std::vector<OnKind> times_;  // [unit x kinds + kind]
    bool measured_ = false;
};

}  // namespace tidemill
