#include "tidemill/steer/bridge/bridge_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/machine/counters.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/steer/bridge/command_child.hpp"
#include "tidemill/steer/daemon.hpp"
#include "tidemill/steer/known_programs.hpp"
#include "tidemill/steer/linux_system.hpp"
#include "tidemill/steer/status_socket.hpp"
#include "tidemill/steer/steer_error.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMetricsEvery{2};

// Affinities are gone when the machine starts again, and so may the journal be.
std::filesystem::path journal_of(const BridgeRunOptions& options) {
    if (!options.journal.empty()) return options.journal;
    const std::filesystem::path folder = steer::daemon_folder();
    return folder /
           (options.name == kDaemonName ? "bridge.json" : fmt::format("bridge-{}.json", options.name));
}

// Two daemons of different names would restore what the other one steers.
std::unique_ptr<steer::StatusSocket> sole_user_of(const std::filesystem::path& journal) {
    const std::size_t place =
        std::filesystem::hash_value(std::filesystem::absolute(journal).lexically_normal());
    try {
        return std::make_unique<steer::StatusSocket>(fmt::format("journal-{:x}", place));
    } catch (const steer::SteerError&) {
        throw JobFailed(fmt::format("{} is the journal of a daemon that runs: give --journal another file",
                                    journal.string()));
    }
}

std::string text_of(const steer::Report& report, steer::StatusForm form) {
    switch (form) {
        case steer::StatusForm::text:
            return describe(report);
        case steer::StatusForm::json:
            return to_text(to_json(report), 2) + "\n";
        case steer::StatusForm::metrics:
            return to_metrics(report);
    }
    return "";
}

steer::Target target_of(const BridgeRunOptions& options, const std::optional<CommandChild>& command) {
    // A process that loses its parent becomes our own child.
    if (command) return {.processes = {command->process(), getpid()}};
    return {.processes = options.processes, .group = options.group};
}

void tell_restored(const steer::Restored& restored) {
    if (restored.restored + restored.changed + restored.refused == 0) return;
    tell(
        "restored {} threads that a killed daemon had left; {} have another affinity by now, {} are not "
        "ours\n",
        restored.restored, restored.changed, restored.refused);
}

/// The daemon with what is around it: its one name, its metrics, its end.
class BridgeRun {
  public:
    explicit BridgeRun(const BridgeRunOptions& options)
        : options_(options),
          socket_(options.name),
          kinds_(steer::kinds_of(Topology::here(options.kinds))),
          counters_(find_counters(options.counters)) {}

    int run() {
        Watch watch(nullptr);
        const auto system = steer::linux_system();
        const steer::KnownPrograms known = known_programs();
        tell_what_is_missing(known);
        if (!options_.command.empty()) command_.emplace(options_.command);
        const std::filesystem::path journal = journal_of(options_);
        const auto sole = options_.dry_run ? nullptr : sole_user_of(journal);
        steer::Daemon daemon(*system, kinds_, target_of(options_, command_), daemon_options(known));
        tell_restored(daemon.restored_at_start());
        if (command_) command_->go();
        follow(daemon, watch);
        const steer::Report report = daemon.report();
        remember(daemon);
        daemon.end();
        if (command_) command_->end();
        print("{}", text_of(report, options_.json ? steer::StatusForm::json : steer::StatusForm::text));
        if (command_ && command_->failure() && !watch.interrupted()) throw JobFailed(*command_->failure());
        return kDone;
    }

  private:
    steer::KnownPrograms known_programs() {
        std::vector<std::string> names;
        for (const steer::CpuKind& kind : kinds_) names.push_back(kind.name);
        before_ = options_.factors;
        std::error_code none;  // a failed request is reported when it is written
        if (!options_.remember.empty() && std::filesystem::exists(options_.remember, none))
            before_ = bridge::read_factor_file(options_.remember);
        try {
            return {names, options_.slower, before_};
        } catch (const steer::SteerError& error) {
            throw WrongUsage(fmt::format("--slower: {}", error.what()));
        }
    }

    void tell_what_is_missing(const steer::KnownPrograms& known) const {
        if (!counters_.warning.empty()) warn(counters_.warning);
        const bool differ =
            std::ranges::any_of(kinds_, [](const steer::CpuKind& kind) { return kind.usual_factor != 1; });
        if (counters_.counters || differ || !known.is_nothing()) return;
        warn(fmt::format(
            "it is unknown how much slower programs are on each kind of core, so threads are only spread "
            "over the cores: give --slower or --factors (counters: {})",
            counters_.reason));
    }

    steer::DaemonOptions daemon_options(const steer::KnownPrograms& known) const {
        steer::DaemonOptions options{
            .dry_run = options_.dry_run,
            .journal = journal_of(options_),
            .known = [known](const std::string& program) { return known.factors_of(program); },
            .counters = counters_.counters.get()};
        options.decision.fair = options_.fair;
        if (options_.dry_run || options_.verbose)
            options.told = [](const std::string& change) { tell("{}\n", change); };
        return options;
    }

    void remember(const steer::Daemon& daemon) const {
        if (options_.remember.empty()) return;
        const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
        bridge::FactorFile file{.written = fmt::format("{:%FT%TZ}", now), .tasks = daemon.learned()};
        for (const steer::CpuKind& kind : kinds_)
            file.cores.set(kind.name, static_cast<int>(kind.cores.size()));
        writing([&] {
            write_factor_file(remembered(before_.value_or(bridge::FactorFile{}), std::move(file)),
                              options_.remember);
        });
    }

    void follow(steer::Daemon& daemon, Watch& watch) {
        const auto began = Clock::now();
        const auto interval =
            std::chrono::round<Clock::duration>(std::chrono::duration<double>(options_.interval_s));
        auto next_tick = began;
        auto next_metrics = began;
        const auto is_over = [&] {
            return watch.interrupted() || daemon.is_over() ||
                   (options_.seconds &&
                    Clock::now() - began >= std::chrono::duration<double>(*options_.seconds));
        };
        while (!is_over()) {
            if (command_) command_->look();
            daemon.tick();
            socket_.answer([&](steer::StatusForm form) { return text_of(daemon.report(), form); });
            if (!options_.metrics.empty() && Clock::now() >= next_metrics) {
                writing([&] { replace_text(options_.metrics, to_metrics(daemon.report())); });
                next_metrics += kMetricsEvery;
            }
            // After a pause of the machine nothing is made up for.
            next_tick = std::max(next_tick + interval, Clock::now());
            watch.sleep_until(next_tick);
        }
    }

    const BridgeRunOptions& options_;
    steer::StatusSocket socket_;
    std::vector<steer::CpuKind> kinds_;
    FoundCounters counters_;
    std::optional<bridge::FactorFile> before_;
    std::optional<CommandChild> command_;
};

}  // namespace

int run_bridge(const BridgeRunOptions& options) {
    const int targets = (options.processes.empty() ? 0 : 1) + (options.group.empty() ? 0 : 1) +
                        (options.command.empty() ? 0 : 1);
    if (targets > 1) throw WrongUsage("give --pid, --cgroup or a command, not several of them");
    return BridgeRun(options).run();
}

}  // namespace tidemill::cli
