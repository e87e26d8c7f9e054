#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/steer/kinds.hpp"
#include "tidemill/steer/known_programs.hpp"
#include "tidemill/steer/steering.hpp"

namespace tidemill::steer {

/// Count that a scheduler in the kernel has of a thread since it took over.
struct ThreadAccount {
    std::uint32_t id = 0;
    std::uint64_t started_ns = 0;  ///< after boot: distinguishes it from another one of the same id
    std::string program = {};      ///< "process.thread"
    double weight = 1;             ///< 1 at nice 0
    bool stays = false;            ///< the kernel's own, or somebody narrowed its affinity
    std::vector<std::uint64_t> on_kind_ns = {};  ///< processor time on each kind
    std::uint64_t wanted_ns = 0;                 ///< in which it ran or waited for a core
};

/// The kind that a thread is to be on from now on; none where it is to be left alone again.
struct Wish {
    std::uint32_t thread = 0;
    std::uint64_t started_ns = 0;
    std::optional<std::size_t> kind = {};

    bool operator==(const Wish&) const = default;
};

/// Decisions from a look at all threads.
struct KindDecision {
    std::vector<Wish> wishes;       ///< only those that are new
    std::vector<std::string> told;  ///< why threads change kinds, for people
};

/// Decides for a scheduler in the kernel that obeys a kind per thread: steer() on what that scheduler counts.
/// A thread is wished somewhere while its name is known and it is busy; all others take their share of the
/// cores, and are left alone.
class KindRequests {
  public:
    KindRequests(Kinds kinds, KnownFactors known, const Settings& settings = {});

    /// `now_s` never goes back. An account that is new begins with what it has counted at its first look.
    KindDecision look(double now_s, std::span<const ThreadAccount> accounts);

  private:
    static constexpr double kMemory_s = 0.3;  // demands are averages of about so long
    static constexpr double kNoticeable =
        0.01;  // of a core: a thread that wants less takes nothing from others

    struct Seen {
        ThreadAccount last;
        std::vector<bridge::Factor> factors = {};
        double since_s = 0;
        std::optional<double> demand = {};  // from the second look on
        std::size_t kind = 0;
        std::optional<double> moved_s = {};
        std::optional<std::size_t> wish = {};
        std::uint64_t look = 0;

        bool is_ours() const;
    };

    void note(double now_s, const ThreadAccount& account);
    static void measure(Seen& seen, double now_s, const ThreadAccount& account);
    Snapshot snapshot(double now_s) const;
    ThreadState state_of(const Seen& seen, double now_s) const;
    void apply(const Change& change, const Snapshot& snapshot, double now_s);
    std::vector<Wish> new_wishes();
    std::string in_words(const Change& change, const Snapshot& snapshot) const;

    Kinds kinds_;
    KnownFactors known_;
    Settings settings_;
    std::map<std::uint32_t, Seen> threads_;
    std::uint64_t looks_ = 0;
};

}  // namespace tidemill::steer
