#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/system_trials.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"

// Effect of a layer of factors on the schedulers of operating systems, simulated.
namespace tidemill::cli {

namespace {

constexpr const char* kDrawn =
    "Drawn, since the paper does not say it: how much slower each program is on a little core, and how long "
    "it "
    "works. A layer has seen the programs in four runs before.";
constexpr std::uint64_t kMixSeeds = 10;  // of one seed of the user's
constexpr std::size_t kLessRuns = 40;    // a mix has so many times fewer runs than another figure
constexpr os::Ratios kX86Ratios{.least = 1.1, .most = 2, .pipelines = 1};

os::Machine x86_cores(std::size_t big, std::size_t little) {
    return os::big_little(big, little, {.name = "3.2 GHz", .clock_ghz = 3.2},
                          {.name = "1.6 GHz", .speed = 0.5, .clock_ghz = 1.6});
}

GainTable over(const SystemTrials& trials, const std::string& scheduler, const std::string& title) {
    GainTable table(fmt::format("{}, over {}", title, scheduler), scheduler, trials.without(scheduler));
    table.add("the same again", trials.again(scheduler));
    return table;
}

// A scheduler against itself with the layer, and what of that comes from where.
ResultTable with_layer(const SystemTrials& trials, const std::string& scheduler, const std::string& title,
                       const Cell& published) {
    GainTable table = over(trials, scheduler, title);
    table.add("layer", trials.with(scheduler), published);
    table.add("its loads alone", trials.with(scheduler, bridge::time_ratio, false));
    table.add("paper's model", trials.with(scheduler, os::paper_model(trials.machine())));
    return table.table();
}

ResultTable over_unbalanced(const SystemTrials& trials, const std::string& title, const Cell& published) {
    GainTable table = over(trials, "unbalanced", title);
    table.add("cfs", trials.without("cfs"));
    table.add("cfs, layer", trials.with("cfs"), published);
    table.note(
        "unbalanced never moves a program. The published gain is larger than ours over cfs, since its "
        "metric takes luck for gain (see the same again), and since a gain of that size needs a "
        "baseline that leaves cores idle while programs wait.");
    return table.table();
}

ResultTable by_program(const SystemTrials& trials, const std::string& scheduler, std::string_view figure) {
    const os::Measured before = trials.without(scheduler);
    const os::Measured after = trials.with(scheduler);
    const std::vector<double> gains = os::gains(before, after);
    ResultTable table{fmt::format("each program under {}", scheduler),
                      {{"program"},
                       {"on big, s", 2},
                       {"little / big", 2},
                       {"turnaround, s", 2},
                       {"with layer, s", 2},
                       {"gain, %", 1},
                       {"publ., %", 1}}};
    const double little_speed = trials.machine().kinds[1].speed;
    for (std::size_t i = 0; i < gains.size(); ++i) {
        const os::Program& program = trials.programs()[i];
        table.rows.push_back({program.name, program.work_s(), program.slowdown(1, little_speed),
                              before.mean_turnarounds_s()[i], after.mean_turnarounds_s()[i], 100 * gains[i],
                              published_percent(figure, program.name)});
    }
    table.notes = {kDrawn};
    const double control = 100 * std::abs(os::gain(before, trials.again(scheduler)).geometric);
    add_verdicts(table, kGainRule, [control](const std::vector<Cell>& row) {
        return gain_reproduces(row[5], row[6], control);
    });
    return table;
}

std::vector<ResultTable> cfs_figure(const SystemTrials& trials, std::string_view figure,
                                    const std::string& title) {
    const Cell mean = published_percent(figure, "mean");
    std::vector<ResultTable> tables{
        with_layer(trials, "cfs", title, mean), with_layer(trials, "capacity-aware", "The same", {}),
        over_unbalanced(trials, "The same", mean), by_program(trials, "cfs", figure)};
    tables[0].notes.insert(tables[0].notes.begin(), kGainColumns);
    return tables;
}

// Geometric, of gains that are shares.
class MeanGain {
  public:
    void add(double gain) {
        logarithms_ += std::log1p(gain);
        ++count_;
    }
    double percent() const { return 100 * std::expm1(logarithms_ / count_); }

  private:
    double logarithms_ = 0;
    double count_ = 0;
};

// A scheduler on all mixes.
struct SystemRow {
    double mixes = 1;
    MeanGain again, gain, over_blind, paper, makespan;
    double again_least = 0, least = 0;
    double unfairness = 0, layer_unfairness = 0, slowdown = 0, layer_slowdown = 0;

    void add(const SystemTrials& trials, const std::string& scheduler, const os::Measured& blind) {
        const os::Measured before = trials.without(scheduler);
        const os::Measured after = trials.with(scheduler);
        const os::Gain control = os::gain(before, trials.again(scheduler));
        const os::Gain found = os::gain(before, after);
        again.add(control.geometric);
        again_least = std::min(again_least, control.least);
        gain.add(found.geometric);
        least = std::min(least, found.least);
        makespan.add(found.makespan);
        over_blind.add(os::gain(blind, after).geometric);
        paper.add(os::gain(before, trials.with(scheduler, os::paper_model(trials.machine()))).geometric);
        unfairness += before.unfairness / mixes;
        layer_unfairness += after.unfairness / mixes;
        slowdown += before.slowdown / mixes;
        layer_slowdown += after.slowdown / mixes;
    }
};

// Each scheduler on mixes of 23 programs, with the layer and without.
void add_systems(ResultTable& table, std::size_t big, std::size_t little, const os::Ratios& ratios,
                 const ReproduceOptions& options) {
    constexpr std::array kSchedulers{"cfs", "capacity-aware", "itmt", "hmp"};
    std::array<SystemRow, kSchedulers.size()> rows;
    for (SystemRow& row : rows) row.mixes = static_cast<double>(options.mixes);
    ReproduceOptions of_mix = options;
    of_mix.runs = std::max<std::size_t>(1, options.runs / kLessRuns);
    for (std::uint64_t mix = 0; mix < options.mixes; ++mix) {
        of_mix.seed = kMixSeeds * options.seed + mix;
        const SystemTrials trials{arm_cores(big, little, ratios), os::drawn_programs(23, ratios, of_mix.seed),
                                  of_mix};
        const os::Measured blind = trials.without("cfs");
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].add(trials, kSchedulers[i], blind);
        }
    }
    const std::string cores = fmt::format("{} big, {} little", big, little);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const SystemRow& row = rows[i];
        table.rows.push_back({cores, ratios.most, kSchedulers[i], row.again.percent(), 100 * row.again_least,
                              row.gain.percent(), 100 * row.least, row.over_blind.percent(),
                              row.paper.percent(), row.makespan.percent(), row.unfairness,
                              row.layer_unfairness, row.slowdown, row.layer_slowdown});
    }
}

}  // namespace

std::vector<ResultTable> s_bridge_fig4(const ReproduceOptions& options) {
    return cfs_figure({arm_cores(1, 1), mibench(options), options}, "fig4",
                      "Fig. 4: 23 MiBench programs, 1 big core and 1 little");
}

std::vector<ResultTable> s_bridge_fig5(const ReproduceOptions& options) {
    return cfs_figure({arm_cores(3, 1), mibench(options), options}, "fig5",
                      "Fig. 5: 23 MiBench programs, 3 big cores and 1 little");
}

std::vector<ResultTable> s_bridge_fig6(const ReproduceOptions& options) {
    return cfs_figure({x86_cores(1, 1), os::published_programs("spec10", kX86Ratios, options.seed), options},
                      "fig6", "Fig. 6: 10 SPEC programs, cores of 3.2 and 1.6 GHz");
}

std::vector<ResultTable> s_bridge_fig7(const ReproduceOptions& options) {
    return cfs_figure({x86_cores(1, 3), os::published_programs("spec12", kX86Ratios, options.seed), options},
                      "fig7", "Fig. 7: 12 SPEC programs, a core of 3.2 GHz and 3 of 1.6");
}

std::vector<ResultTable> s_bridge_fig8(const ReproduceOptions& options) {
    const SystemTrials trials{arm_cores(1, 1), mibench(options), options};
    std::vector<ResultTable> tables{
        with_layer(trials, "hmp", "Fig. 8: 23 MiBench programs, 1 big core and 1 little",
                   published_percent("fig8", "mean")),
        by_program(trials, "hmp", "fig8")};
    tables[0].notes = {
        tables[0].notes.back(), kGainColumns,
        "Thresholds 700 and 512. Others change nothing here (hmp-low): these programs never sleep, "
        "so all are above. HMP leaves a little core to one program at a time; most of the gain is "
        "that of the few which have it."};
    return tables;
}

std::vector<ResultTable> s_bridge_systems(const ReproduceOptions& options) {
    ResultTable table{"Simulated systems: what the layer gains, ten mixes of 23 programs",
                      {{"cores"},
                       {"ratio <", 2},
                       {"system"},
                       {"again, %", 1},
                       {"least", 1},
                       {"gain, %", 1},
                       {"least, %", 1},
                       {"over cfs, %", 1},
                       {"paper's model, %", 1},
                       {"makespan, %", 1},
                       {"unfairness", 2},
                       {"with it", 2},
                       {"slowdown", 1},
                       {"with", 1}}};
    double done = 0;
    for (const os::Ratios& ratios : {kArmRatios, os::Ratios{.least = 1.2, .most = 2.23, .pipelines = 1.5}}) {
        for (const auto& [big, little] : {std::pair{1, 1}, {1, 3}, {3, 1}}) {
            if (options.progress) options.progress(fmt::format("{} big, {} little", big, little), done++ / 6);
            add_systems(table, static_cast<std::size_t>(big), static_cast<std::size_t>(little), ratios,
                        options);
        }
    }
    table.notes = {
        kGainColumns,
        "A mix is drawn anew, each program's ratio evenly; means over mixes, least of all. again: the "
        "system once more without layer, over cfs: the system with layer over blind CFS."};
    add_no_verdicts(table, "no such mixes were published.");
    return {table};
}

}  // namespace tidemill::cli
