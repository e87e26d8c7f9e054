#include "tidemill/cli/bridge/bridge_run.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/cli/bridge/command_child.hpp"
#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/output.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/cli/watch.hpp"
#include "tidemill/json/text_file.hpp"
#include "tidemill/platform/topology.hpp"
#include "tidemill/steer/daemon.hpp"
#include "tidemill/steer/linux_system.hpp"
#include "tidemill/steer/status_socket.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMetricsEvery{2};

// Affinities are gone when the machine starts again, and so may the journal be.
std::filesystem::path journal_of(const BridgeRunOptions& options) {
    if (!options.journal.empty()) return options.journal;
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    if (geteuid() != 0 && runtime == nullptr)
        throw JobFailed("there is no XDG_RUNTIME_DIR to keep the journal in: give --journal FILE");
    const std::filesystem::path folder =
        std::filesystem::path(geteuid() == 0 ? "/run" : runtime) / "tidemill";
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        throw JobFailed(fmt::format("{}: {}; give --journal FILE", folder.string(), failed.message()));
    return folder / "bridge.json";
}

/// What the user knows of programs: a file from runs before says more than a number for a kind.
class Known {
  public:
    Known(const BridgeRunOptions& options, std::vector<std::string> kinds)
        : slower_(options.slower), file_(options.factors), kinds_(std::move(kinds)) {
        for (const auto& [kind, ratio] : slower_.kinds)
            if (std::ranges::count(kinds_, kind) == 0 || kind == kinds_.front())
                throw WrongUsage(fmt::format("--slower {}: give another kind than the first of {}", kind,
                                             fmt::join(kinds_, ", ")));
    }

    bool is_nothing() const { return slower_.kinds.empty() && !file_; }

    std::vector<bridge::Factor> operator()(const std::string& program) const {
        std::vector<bridge::Factor> factors = {{1, bridge::Quality::measured, 0}};
        for (std::size_t kind = 1; kind < kinds_.size(); ++kind)
            factors.push_back(factor(program, kinds_[kind]));
        return factors;
    }

  private:
    bridge::Factor factor(const std::string& program, const std::string& kind) const {
        if (const auto known = from_file(program, kind)) return *known;
        const auto ratio = slower_.kinds.find(kind);
        if (ratio == slower_.kinds.end()) return {};
        return {ratio->second.ratio_of(program), bridge::Quality::estimated, 0};
    }

    std::optional<bridge::Factor> from_file(const std::string& program, const std::string& kind) const {
        if (!file_) return std::nullopt;
        const bridge::Factor known = steer::known_factor(*file_, program, kind, kinds_.front());
        return known.quality == bridge::Quality::absent ? std::nullopt : std::optional(known);
    }

    bridge::Emulation slower_;
    std::optional<bridge::FactorFile> file_;
    std::vector<std::string> kinds_;
};

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
    // Whoever loses its parent becomes our own child.
    if (command) return {.processes = {command->process(), getpid()}};
    return {.processes = options.processes, .group = options.group};
}

void tell_restored(const steer::Restored& restored) {
    if (restored.restored + restored.changed + restored.refused == 0) return;
    tell(
        "restored {} threads that a daemon before this one had left; {} have another affinity by now, {} are "
        "not "
        "ours\n",
        restored.restored, restored.changed, restored.refused);
}

/// The daemon with what is around it: its one name, its metrics, its end.
class BridgeRun {
  public:
    explicit BridgeRun(const BridgeRunOptions& options)
        : options_(options), socket_(options.name), topology_(Topology::here(options.kinds)) {}

    int run() {
        Watch watch(nullptr);
        const auto system = steer::linux_system();
        std::vector<steer::CpuKind> kinds = steer::kinds_of(topology_);
        const Known known = known_of(kinds);
        if (!options_.command.empty()) command_.emplace(options_.command);
        steer::Daemon daemon(*system, std::move(kinds), target_of(options_, command_), daemon_options(known));
        tell_restored(daemon.restored_at_start());
        follow(daemon, watch);
        const steer::Report report = daemon.report();
        daemon.end();
        if (command_) command_->end();
        print("{}", text_of(report, options_.json ? steer::StatusForm::json : steer::StatusForm::text));
        if (command_ && command_->failure() && !watch.interrupted()) throw JobFailed(*command_->failure());
        return kDone;
    }

  private:
    Known known_of(const std::vector<steer::CpuKind>& kinds) const {
        std::vector<std::string> names;
        bool differ = false;
        for (const steer::CpuKind& kind : kinds) {
            names.push_back(kind.name);
            differ = differ || kind.usual_factor != 1;
        }
        Known known(options_, names);
        if (known.is_nothing() && !differ)
            warn(
                "nothing tells how much slower programs are on which kind of core, so threads are only "
                "spread over "
                "the cores: give --slower or --factors");
        return known;
    }

    steer::DaemonOptions daemon_options(const Known& known) const {
        steer::DaemonOptions options{
            .dry_run = options_.dry_run, .journal = journal_of(options_), .known = known};
        options.decision.fair = options_.fair;
        if (options_.dry_run || options_.verbose)
            options.told = [](const std::string& change) { tell("{}\n", change); };
        return options;
    }

    void follow(steer::Daemon& daemon, Watch& watch) {
        const auto began = Clock::now();
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
            next_tick +=
                std::chrono::round<Clock::duration>(std::chrono::duration<double>(options_.interval_s));
            watch.sleep_until(next_tick);
        }
    }

    const BridgeRunOptions& options_;
    steer::StatusSocket socket_;
    Topology topology_;
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
