#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/steer/internal/crowd.hpp"
#include "tidemill/steer/steering.hpp"

namespace tidemill::steer::internal {

/// The indices of the threads on each kind.
std::vector<std::vector<std::uint32_t>> members_by_kind(const Snapshot& snapshot);

/// Looks for better assignments of threads to kinds: by moves and exchanges from the one there is, and, where
/// none of these is worth it, by one that is built anew.
///
/// Where all threads have one weight and want all they can get, and there are two kinds, the best assignment
/// is reached: for any number of threads on the big kind the best are those with the largest factors, which
/// exchanges find, and its value is concave in that number.
class AssignmentSearch {
  public:
    AssignmentSearch(const Snapshot& snapshot, const Settings& settings);

    /// Changes that are each worth their moves, the most valuable first.
    std::vector<Change> worthwhile_changes();
    /// A thread goes where nothing is known of it, in exchange for one that loses little.
    std::optional<Change> trial() const;

  private:
    using Members = std::vector<std::vector<std::uint32_t>>;
    struct Step {
        std::vector<Move> moves;
        Value gain;
        double net;
    };

    bool may_move(const ThreadState& thread) const;
    bool is_unknown(std::uint32_t thread, std::size_t kind) const;
    std::vector<std::uint32_t> candidates(std::size_t from, std::size_t to) const;
    double price(const std::vector<Move>& moves) const;
    Value gain(const std::vector<Move>& moves) const;
    Change change_of(const Step& step) const;
    void offer(std::optional<Step>& best, std::vector<Move> moves) const;
    void offer_between(std::optional<Step>& best, std::size_t one, std::size_t other) const;
    std::optional<Step> best_step() const;
    void apply(const std::vector<Move>& moves);
    std::optional<Change> change_to_rebuilt();
    void rebuild();
    void insert(std::uint32_t thread);

    const Snapshot& snapshot_;
    Settings settings_;
    Crowd crowd_;
    double price_per_worth_;
    Members members_;
    std::vector<Value> values_;          // by kind
    std::vector<std::uint8_t> movable_;  // by thread
};

}  // namespace tidemill::steer::internal
