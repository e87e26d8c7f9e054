#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/scheduling/unequal/factor_matrix.hpp"

namespace tidemill::steer {

/// The cores of one kind that threads may be given. Kind 0 is the one that factors refer to.
struct KindOfCores {
    unsigned cores = 0;
    double usual_factor = 1;  ///< how many times longer a thread takes there of which nothing is known
};

/// A thread at the moment of the decision.
struct ThreadState {
    std::uint64_t id = 0;  ///< for its caller; decides nothing
    double weight = 1;     ///< its share of a core beside others, 1 at nice 0
    double demand = 1;     ///< part of its time in which it ran or waited for a core, 0 to 1
    /// Demand of a core of kind 0 where nobody is in its way, if that was seen. Its demand does not
    /// tell that: on a slow core, or beside others, every thread that wants something seems to want all.
    std::optional<double> work = {};
    std::size_t kind = 0;  ///< where it is
    std::vector<bridge::Factor> factors =
        {};  ///< by kind: its time there over that on kind 0; may be shorter
    double rest_s = std::numeric_limits<double>::infinity();  ///< since it was moved
    bool stays = false;                                       ///< is not ours to move, but takes its share
    double received = 1;  ///< what it lately got over what the system alone would have given it
};

/// From this demand on, what limits a thread is its core or who shares it, and not what it has to do.
inline constexpr double kLimitedDemand = 0.85;

/// Everything that a decision rests on.
struct Snapshot {
    std::vector<KindOfCores> kinds;
    std::vector<ThreadState> threads;
};

struct Settings {
    /// Natural logarithm of the speed that each moved thread must bring: 0.05 are five per cent.
    double hysteresis = 0.05;
    double migration_cost_s = 25e-6;
    double horizon_s = 1;       ///< for which a decision is thought to hold
    double least_rest_s = 0.5;  ///< between two moves of one thread
    double least_demand = 0.1;  ///< a thread that wants less stays where it is
    /// How much slower, as a part of its speed, a thread may become than under the system alone.
    std::optional<double> fair = {};
    double fair_look_ahead = 0.125;  ///< weight of the next decision beside what a thread has received
    bool learns = false;             ///< threads are tried where nothing is known of them
};

enum class Reason : std::uint8_t {
    speed,     ///< the threads are faster together
    no_cores,  ///< the kind that it was on has no core left
    fairness,  ///< a thread had become slower than `Settings::fair` allows
    learning,  ///< nothing is known of a thread on a kind
};

const char* to_string(Reason reason);

struct Move {
    std::size_t thread = 0;  ///< index into Snapshot::threads
    std::size_t from = 0;    ///< kinds
    std::size_t to = 0;
};

/// Moves that belong together: one is a move, two back and forth are an exchange.
struct Change {
    std::vector<Move> moves;
    double gain = 0;  ///< sum over threads of weight x demand on kind 0 x logarithm of the speed
    Reason reason = Reason::speed;
};

/// Changes in the order in which to do them; none where it is not worth it. Looks at whole assignments of
/// threads to kinds: the sum over threads of weight x demand on kind 0 x logarithm of the speed, where the
/// threads on a kind share its cores by weight. So the thread that loses most on a little core has the big
/// one, wherever it was at first. Decisions that are carried out come to rest. Throws nothing: threads and
/// kinds may be none, a kind beyond the snapshot's counts as kind 0.
std::vector<Change> steer(const Snapshot& snapshot, const Settings& settings = {});

/// How fast a thread is, in parts of what a core of kind 0 does in the same time.
struct Speed {
    double now = 0;    ///< where it is
    double alone = 0;  ///< under a system that shares all cores out by weight and knows no kinds
};

/// The speeds of all threads, in their order.
std::vector<Speed> speeds(const Snapshot& snapshot);

/// "exchange: 17 to big (2.30 times longer on little), 19 to little (1.20 times longer on little), for
/// speed": for people.
std::string describe(const Change& change, const Snapshot& snapshot, std::span<const std::string> kind_names,
                     const std::function<std::string(std::size_t thread)>& name_of);

}  // namespace tidemill::steer
