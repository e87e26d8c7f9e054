#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

class WeightLog;
struct UnitWeight;

/// Adds a kind of cores with its weights to a profile whose units are those of a graph, as they are after
/// `report`, a run in order.
void add_kind(Profile& profile, const std::string& kind, int cores, const Graph& graph,
              const Structure& structure, const RunReport& report, const std::vector<UnitWeight>& weights);

/// Extent of profiling.
struct ProfileOptions {
    std::optional<Platform> cores{};        ///< whose kinds are profiled; none: all that there are
    std::optional<std::uint64_t> frames{};  ///< source frames on each kind; none: by time
    double seconds = 0.5;                   ///< on each kind, the warm-up included
};

/// Runs a graph in order, pinned to the first core of a kind, and profiles its units; one kind after the
/// other. A first part is thrown away each time: learning, tables made at first use and fresh memory are not
/// what a stream costs in the long run. Neither is what happens once later, a search or a buffer that grows,
/// nor what other threads take of the core: see WeightLog.
class Profiler {
  public:
    /// Counts what a graph has brought out so far.
    using Output = std::function<std::uint64_t()>;

    /// Profile on a kind.
    struct Profiled {
        std::uint64_t frames = 0;  ///< of the source
        std::uint64_t output = 0;  ///< what came out meanwhile
    };

    Profiler(const Topology& topology, ProfileOptions options)
        : topology_(topology), options_(std::move(options)) {}

    /// The kinds to profile.
    std::vector<const CoreKind*> kinds() const;

    /// Profiles a graph on one kind. Frames that run are delivered: a graph with state goes on from where it
    /// was. With `output`, the warm-up lasts until something comes out, and time counts from then on. Throws
    /// ScheduleError when the source ends before its first frame.
    Profiled profile(Graph& graph, const CoreKind& kind, const Output& output = {});

    /// The units' weights in microseconds per source frame, and what makes them less sure than they look.
    const Profile& profile() const { return profile_; }

  private:
    RunReport warm_up(Sequence& sequence, const Output& output, WeightLog& log) const;
    RunReport go_on(Sequence& sequence, const Output& output, WeightLog& log) const;
    void warn(const CoreKind& kind, const std::string& what);
    void add_weights(const std::string& kind, const Sequence& sequence, const RunReport& report,
                     const WeightLog& log);

    const Topology& topology_;
    ProfileOptions options_;
    Profile profile_{};
};

/// Profiles a graph on every kind of cores.
Profile profile(Graph& graph, const Topology& topology, const ProfileOptions& options = {});

/// The same on this machine's.
Profile profile(Graph& graph, const ProfileOptions& options = {});

}  // namespace tidemill
