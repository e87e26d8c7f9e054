#include "tidemill/lab/programs/profile_run.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tidemill/lab/programs/real_run.hpp"
#include "tidemill/lab/programs/stream_graph.hpp"
#include "tidemill/lab/sim/profile_stream.hpp"
#include "tidemill/machine/side_by_side.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/unequal/emulation.hpp"

namespace tidemill {

namespace {

void check_cores(const Platform& platform) {
    int wanted = 0;
    for (const CoreCount& kind : platform.kinds()) wanted += kind.count;
    const auto here = static_cast<int>(cores_to_use());
    if (wanted <= here) return;
    throw ScheduleError(
        fmt::format("{} asks for {} workers that compute, on a machine of {}: take fewer, or modelled ones",
                    in_words(platform.kinds()), wanted, here));
}

// In a graph's words, a task type is a module with one task.
std::string task_name(const StreamGraph& graph, std::size_t type) {
    return fmt::format("{}:{}.fire", type, graph.types[type].name);
}

class ProfileRun {
  public:
    ProfileRun(const Profile& profile, const ProfileRunOptions& options)
        : options_(options), bound_us_(bound_of(profile, options.cores).period_us) {
        for (const CoreCount& kind : options.cores.kinds()) {
            if (kind.count == 0) continue;
            how_.kinds.insert(how_.kinds.end(), static_cast<std::size_t>(kind.count),
                              static_cast<policy::KindId>(how_.kind_names.size()));
            how_.kind_names.push_back(kind.kind);
        }
        stream_ = profile_stream(profile, how_.kind_names);
        if (options.independent) stream_.graph.edges.clear();
        how_.workers = how_.kinds.size();
        how_.policy = options.policy;
        how_.window = options.window;
        how_.places = options.placing != Placing::none;
        tell_tasks();
        const double factor = 1 / computed_us();
        for (StreamTaskType& type : stream_.graph.types) type.work_us *= factor;
    }

    RunReport run() {
        const std::uint64_t frames =
            options_.frames > 0
                ? options_.frames
                : static_cast<std::uint64_t>(std::ceil(std::max(100.0, options_.seconds * 1e6 / bound_us_)));
        constexpr double kLongest_s = 600;
        if (const double least_s = 1e-6 * bound_us_ * static_cast<double>(frames); least_s > kLongest_s)
            throw ScheduleError(fmt::format(
                "{} executions of the profile take {:.3g} s at least: take fewer, or modelled workers",
                frames, least_s));
        StreamModules modules(stream_.graph, Pastime::computing);
        Dynamic dynamic(modules.graph(), how_);
        RunReport report = dynamic.run({.frames = frames});
        if (options_.checked) check(modules, frames);
        return report;
    }

  private:
    void check(const StreamModules& modules, std::uint64_t frames) const {
        StreamModules expected(stream_.graph, Pastime::computing);
        Sequence(expected.graph()).run({.frames = frames});
        if (modules.digest() != expected.digest())
            throw WrongResult(
                fmt::format("the profile's tasks came out otherwise than in order: {:016x}, "
                            "not {:016x}",
                            modules.digest(), expected.digest()));
    }

    // Where each may run, what it takes on each kind, and that no core here is of such a kind.
    void tell_tasks() {
        auto emulation = std::make_shared<bridge::Emulation>();
        for (const std::string& kind : how_.kind_names) emulation->kinds[kind].said = "the profile";
        for (std::size_t type = 0; type < stream_.graph.types.size(); ++type) {
            const std::string name = task_name(stream_.graph, type);
            how_.only[name] = stream_.type_kinds[type];
            for (std::size_t kind = 0; kind < how_.kind_names.size(); ++kind) {
                const double slowdown = stream_.slowdowns[type][kind];
                emulation->kinds[how_.kind_names[kind]].tasks[name] = slowdown;
                if (options_.placing == Placing::known)
                    how_.known_us[name].push_back(stream_.graph.types[type].work_us * slowdown);
            }
        }
        how_.emulation = std::move(emulation);
    }

    ProfileRunOptions options_;
    double bound_us_;
    ProfileStream stream_;
    DynamicOptions how_;
};

}  // namespace

RunReport run_profile(const Profile& profile, const ProfileRunOptions& options) {
    check_cores(options.cores);
    return ProfileRun(profile, options).run();
}

}  // namespace tidemill
