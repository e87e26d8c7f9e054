#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/steer/steering.hpp"

namespace tidemill::steer::internal {

/// Value of the threads of a kind together, in worth x logarithm of the speed.
struct Value {
    double speed = 0;
    double promises = 0;  ///< less than 0 where one is broken

    double total() const { return speed + promises; }
};

/// The numbers of a snapshot, made fit for weighing many assignments: no factor, weight or demand is outside
/// its range, and logarithms are taken once.
class Crowd {
  public:
    Crowd(const Snapshot& snapshot, const Settings& settings);

    std::size_t threads() const { return traits_.size(); }
    std::size_t kinds() const { return cores_.size(); }
    double cores(std::size_t kind) const { return cores_[kind]; }

    /// Worth of a thread's speed: its weight times what it would take of a core of kind 0.
    double worth(std::size_t thread) const { return traits_[thread].worth; }
    double log_factor(std::size_t thread, std::size_t kind) const { return place(thread, kind).log_factor; }
    /// Whether a thread has received less than it is promised.
    bool is_owed(std::size_t thread) const;

    /// Value of threads that share a kind's cores. On a kind without cores it is so low that any other is
    /// better.
    Value value(std::size_t kind, std::span<const std::uint32_t> members) const;
    /// The speed of each of them.
    std::vector<double> speeds(std::size_t kind, std::span<const std::uint32_t> members) const;
    double speed_alone(std::size_t thread) const { return traits_[thread].alone; }

  private:
    struct Traits {
        double weight;
        double log_weight;
        double worth;
        double received;
        double alone = 0;
    };
    /// A thread on a kind.
    struct Place {
        double want;  // of one core
        double log_want;
        double log_factor;
        double speed_per_share;
    };

    const Place& place(std::size_t thread, std::size_t kind) const {
        return places_[thread * cores_.size() + kind];
    }
    void add(const ThreadState& thread, const Snapshot& snapshot);
    void find_speeds_alone(const Snapshot& snapshot);
    double shortage(std::size_t thread, double speed) const;
    /// Cores that a weight of 1 gets of `cores` cores where nobody gets more than it wants; infinite where
    /// all do.
    template <class Want>
    double level(double cores, std::span<const std::uint32_t> members, const Want& want) const;

    std::vector<double> cores_;
    std::vector<Traits> traits_;
    std::vector<Place> places_;  // thread x kind
    double promised_;            // part of the speed alone; 0: nothing is
    double look_ahead_;
};

}  // namespace tidemill::steer::internal
