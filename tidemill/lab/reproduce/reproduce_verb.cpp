#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/base/json.hpp"
#include "tidemill/lab/lab_verbs.hpp"
#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

// To add a table or figure, add its line here.
constexpr std::array kReproductions{
    Reproduction{"table1", "strategies on 1000 random chains: slowdown and cores used", table1},
    Reproduction{"fig4", "the example chain through FERTAC, 2CATAC and HeRAD (also 1, 2 and 3)", fig1_to_4},
    Reproduction{"fig5", "how slowdowns are distributed", fig5},
    Reproduction{"fig6", "how many cores more FERTAC uses than HeRAD", fig6},
    Reproduction{"fig7", "how long strategies take", fig7},
    Reproduction{"fig8", "buffers between stages of several threads", fig8},
    Reproduction{"fig9", "the example's schedule as JSON", fig9},
    Reproduction{"table2", "the DVB-S2 receiver's tasks on four platforms (also the chain of fig10)", table2},
    Reproduction{"table3", "the DVB-S2 receiver's 40 solutions on four platforms", table3},
    Reproduction{"fig11", "the receiver's throughput: simulated, measured, and left to the system", fig11},
    Reproduction{"fig12", "where pinning policies put threads", fig12},
    Reproduction{"fig13", "the receiver's throughput by pinning policy: as published, and simulated", fig13},
    Reproduction{"fig14", "the receiver under the system's schedulers: as published, and what could be",
                 fig14},
    Reproduction{"fig15", "the strategies in short: throughput and energy against HeRAD's", fig15},
    Reproduction{"streampu.table1", "StreamPU's micro-benchmark of a chain, measured here", streampu_table1},
    Reproduction{"streampu.table3", "StreamPU's receiver: its tasks and stages", streampu_table3},
    Reproduction{"streampu.table4", "its throughputs, in order and parallel, published and simulated",
                 streampu_table4},
    Reproduction{"streampu.table5", "its stages cut as gr-dvbs2rx is", streampu_table5},
    Reproduction{"streampu.fig5", "overhead by what a task takes, measured here", streampu_fig5},
    Reproduction{"streampu.fig10", "frame error rates of its three MODCODs, counted here", streampu_fig10},
    Reproduction{"streampu.fig11", "where the time of its stages goes, simulated", streampu_fig11},
    Reproduction{"poster.memory",
                 "memory policies of a device: a first and a second execution, measured here", poster_memory},
    Reproduction{"poster.locality", "streaming increments, pinned or left to the system, measured here",
                 poster_locality},
    Reproduction{"poster.dvbs2", "the receiver on an M1 Ultra by three ways to put threads on cores",
                 poster_dvbs2},
    Reproduction{"table4.1", "heuristics that were known, and which are ours", table4_1},
    Reproduction{"table4.2", "dynamic policies, their queues and costs", table4_2},
    Reproduction{"table4.3", "each dynamic policy at its worst, beside the formulas", table4_3},
    Reproduction{"table4.4", "the statistics of the adaptive policies", table4_4},
    Reproduction{"fig4.1", "static and dynamic scheduling, balanced or not", fig4_1},
    Reproduction{"fig4.2", "calls of a dynamic scheduler", fig4_2},
    Reproduction{"fig4.3", "how many tasks are ready", fig4_3},
    Reproduction{"fig4.4", "levels, children and descendants in a small graph", fig4_4},
    Reproduction{"fig4.5", "ready queues of lists of policies", fig4_5},
    Reproduction{"fig4.8", "poor back pressure, and what the throttle does (also 4.7)", fig4_8},
    Reproduction{"fig4.9", "exhaustion, and how the adaptive policies cure it (also 4.6, 4.11, 4.12)",
                 fig4_9},
    Reproduction{"fig4.10", "which task type ends with few threads busy", fig4_10},
    Reproduction{"fig4.13", "what gpriority learns of a decoder's task types", fig4_13},
    Reproduction{"fig4.14", "how the StreamIt benchmarks scale", fig4_14},
    Reproduction{"fig4.15", "policies on the StreamIt benchmarks: means and worst cases (also 4.16)",
                 fig4_15},
    Reproduction{"fig4.17", "policies on the StreamIt benchmarks in detail", fig4_17},
    Reproduction{"fig4.18", "policies on factorisations and a decoder", fig4_18},
    Reproduction{"table4.5", "the benchmarks of the evaluation", table4_5},
    Reproduction{"sbridge.fig4", "CFS with the layer for unequal cores: 1 big core and 1 little",
                 s_bridge_fig4},
    Reproduction{"sbridge.fig5", "the same: 3 big cores and 1 little", s_bridge_fig5},
    Reproduction{"sbridge.fig6", "the same: cores of 3.2 and 1.6 GHz", s_bridge_fig6},
    Reproduction{"sbridge.fig7", "the same: a core of 3.2 GHz and 3 of 1.6", s_bridge_fig7},
    Reproduction{"sbridge.fig8", "HMP with the layer", s_bridge_fig8},
    Reproduction{"sbridge.fig9", "programs that are alike, fixed clocks and DVFS", s_bridge_fig9},
    Reproduction{"sbridge.fig10", "the paper's model by its CPU factor", s_bridge_fig10},
    Reproduction{"sbridge.fig11", "the layer by the little core's clock", s_bridge_fig11},
    Reproduction{"sbridge.systems", "all simulated operating systems, with the layer and without",
                 s_bridge_systems},
    Reproduction{"sbridge.overhead", "what the layer costs 10,000 empty programs, measured",
                 s_bridge_overhead},
};

struct ReproduceVerbOptions {
    std::string name;
    bool json = false;
    ReproduceOptions amount;
};

// How far a long experiment is, on a terminal.
class ProgressLine {
  public:
    void show(std::string_view next, double done) const {
        if (!shown_) return;
        draw(fmt::format("\r\x1b[K{:.0f} %: {}", 100 * done, next));
    }
    void clear() const {
        if (shown_) draw("\r\x1b[K");
    }

  private:
    bool shown_ = isatty(STDERR_FILENO) == 1;
};

int list_reproductions(bool json) {
    Json names = Json::array();
    for (const Reproduction& each : kReproductions) {
        names.push_back({{"name", each.name}, {"summary", each.summary}});
        if (!json) print("{:<16}  {}\n", each.name, each.summary);
    }
    if (json) print("{}\n", to_text(Json{{"reproductions", names}}, 2));
    return kDone;
}

int run_reproduce(ReproduceVerbOptions options) {
    if (options.name.empty()) return list_reproductions(options.json);
    const Reproduction& found = reproduction_of(options.name);
    const ProgressLine line;
    options.amount.progress = [&](std::string_view next, double done) { line.show(next, done); };
    const std::vector<ResultTable> tables = found.make(options.amount);
    line.clear();
    Json json{{"name", found.name}, {"tables", Json::array()}};
    for (const ResultTable& table : tables) {
        if (options.json) {
            json["tables"].push_back(to_json(table));
        } else {
            print("{}{}", &table == tables.data() ? "" : "\n", to_text(table));
        }
    }
    if (options.json) print("{}\n", to_text(json, 2));
    return kDone;
}

}  // namespace

std::span<const Reproduction> reproductions() {
    return kReproductions;
}

const Reproduction& reproduction_of(std::string_view name) {
    const auto* found = std::ranges::find(kReproductions, name, &Reproduction::name);
    if (found != kReproductions.end()) return *found;
    throw WrongUsage(fmt::format(
        "'{}' is not among what we reproduce: see the list that tidemill reproduce prints", name));
}

void add_reproduce(Verb& program) {
    auto options = std::make_shared<ReproduceVerbOptions>();
    Verb& verb = program.verb("reproduce",
                              "Make a published table or figure again, ours beside theirs; alone, list them");
    verb.footer("Example: tidemill reproduce table1");
    verb.option("name", options->name, "Which table or figure");
    verb.option("--chains", options->amount.chains, "Random chains per setting").in(between(10, 1000000));
    verb.option("--timed", options->amount.timed, "Random chains per run time (fig7)").in(between(1, 10000));
    verb.option("--frames", options->amount.frames,
                "Simulated executions (table3, fig11); counted frames of a point (streampu.fig10)")
        .in(between(100, 1000000));
    verb.option("--tasks", options->amount.tasks,
                "Per worker, of each StreamIt benchmark (fig4.3 to fig4.17); of sbridge.overhead")
        .in(between(1, 10000000));
    verb.option("--runs", options->amount.runs, "Of each simulated operating system (sbridge)")
        .in(between(1, 100000));
    verb.option("--seed", options->amount.seed, "Of random chains and programs");
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_reproduce(*options); });
}

}  // namespace tidemill::cli
