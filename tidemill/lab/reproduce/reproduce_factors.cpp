#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/system_trials.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"

// Where the layer's factors are right, wrong or of no use, in simulated systems.
namespace tidemill::cli {

namespace {

constexpr std::size_t kAlike = 23;  // programs of a homogeneous workload

// The clocks of Fig. 11 are what the board's governor chooses from.
os::Machine arm_that_follows_load() {
    os::Machine machine = arm_cores(1, 1);
    constexpr double kMostLittle_ghz = 1.104;
    machine.follows_load = true;
    machine.kinds[0].steps = {0.3, 0.45, 0.6, 0.75, 0.9, 1};
    machine.kinds[1].speed *= kMostLittle_ghz / kLittleArm_ghz;
    machine.kinds[1].clock_ghz = kMostLittle_ghz;
    machine.kinds[1].steps = {0.435, 0.543, 0.652, 0.826, 1};
    return machine;
}

// The little core at another clock: what was drawn of the programs stays.
os::Machine arm_at(double little_ghz) {
    os::Machine machine = arm_cores(1, 1);
    machine.kinds[1].speed *= little_ghz / kLittleArm_ghz;
    machine.kinds[1].clock_ghz = little_ghz;
    return machine;
}

// A row of a GainTable by its first cell.
const std::vector<Cell>& row_called(const ResultTable& table, const char* name) {
    return *std::ranges::find(table.rows, Cell{name}, [](const std::vector<Cell>& row) { return row[0]; });
}

double gain_of(const std::vector<Cell>& row) {
    return std::get<double>(row[1]);
}

Verdict is_above(double gain, double other, double control) {
    if (std::abs(gain - other) <= control) return Verdict::cannot_tell;
    return yes_if(gain > other);
}

void judge_fixed_clocks(ResultTable& table) {
    constexpr std::size_t kLess = 7;  // column of the makespan's
    const double control = std::abs(std::get<double>(row_called(table, "the same again")[kLess]));
    add_verdicts(
        table,
        "the last program ends sooner with the layer over cfs, by more than with the same again; of the "
        "others nothing is said.",
        [control](const std::vector<Cell>& row) {
            if (row[0] != Cell{"cfs, layer"}) return Verdict::cannot_tell;
            return is_above(std::get<double>(row[kLess]), 0, control);
        });
}

void judge_following_clocks(ResultTable& table) {
    const double control = std::abs(gain_of(row_called(table, "the same again")));
    const double layer = gain_of(row_called(table, "cfs, layer"));
    add_verdicts(
        table,
        "cfs with the layer is slower than cfs, and hmp faster than both, by more than the same again "
        "differs; of the others nothing is said.",
        [control, layer](const std::vector<Cell>& row) {
            if (row[0] == Cell{"cfs, layer"}) return is_above(0, layer, control);
            if (row[0] != Cell{"hmp"}) return Verdict::cannot_tell;
            return is_above(gain_of(row), std::max(0.0, layer), control);
        });
}

void judge_cpu_factors(ResultTable& table) {
    const double control = std::abs(gain_of(row_called(table, "the same again")));
    double best_other = -100;
    for (const std::vector<Cell>& row : table.rows) {
        const bool is_other =
            std::get<std::string>(row[0]).starts_with("CPU factor") && row[0] != Cell{"CPU factor 1.5"};
        if (is_other) best_other = std::max(best_other, gain_of(row));
    }
    add_verdicts(
        table,
        "a CPU factor of 1.5 gains more than the others, by more than the same again; of these nothing "
        "else is said.",
        [control, best_other](const std::vector<Cell>& row) {
            if (row[0] != Cell{"CPU factor 1.5"}) return Verdict::cannot_tell;
            return is_above(gain_of(row), best_other, control);
        });
}

ResultTable alike(const SystemTrials& trials, const std::string& title) {
    const std::vector<double> at_fixed_clocks{1, kArmRatios.most};
    GainTable table(title + ", over cfs", "cfs", trials.without("cfs"));
    table.add("the same again", trials.again("cfs"));
    table.add("cfs, layer", trials.with("cfs"));
    table.add("cfs, paper's model", trials.with("cfs", os::paper_model(trials.machine(), at_fixed_clocks)));
    table.add("hmp", trials.without("hmp"));
    table.add("hmp, layer", trials.with("hmp"));
    table.add("capacity-aware", trials.without("capacity-aware"));
    table.add("capacity-aware, layer", trials.with("capacity-aware"));
    return table.rows();
}

double at_share(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

// The ratios of single runs, as the paper shows them.
std::vector<double> sorted_single_gains(const os::Measured& before, const os::Measured& after) {
    std::vector<double> gains;
    for (std::size_t run = 0; run < before.turnarounds_s.size(); ++run) {
        for (std::size_t i = 0; i < before.alone_s.size(); ++i) {
            gains.push_back(100 * (before.turnarounds_s[run][i] / after.turnarounds_s[run][i] - 1));
        }
    }
    std::ranges::sort(gains);
    return gains;
}

std::vector<Cell> clock_row(const SystemTrials& trials, double little_ghz) {
    const os::Measured before = trials.without("cfs");
    const os::Measured after = trials.with("cfs");
    const std::vector<double> singles = sorted_single_gains(before, after);
    const auto above = std::ranges::count_if(singles, [](double gain) { return gain > 70; });
    const os::Gain gain = os::gain(before, after);
    return {little_ghz,
            1 / trials.machine().kinds[1].speed,
            100 * os::gain(before, trials.again("cfs")).geometric,
            100 * gain.geometric,
            100 * os::gain(trials.without("capacity-aware"), trials.with("capacity-aware")).geometric,
            100 * gain.published,
            published_percent("fig11", fmt::format("{:.2f}", little_ghz)),
            at_share(singles, 0.25),
            at_share(singles, 0.5),
            at_share(singles, 0.75),
            100.0 * static_cast<double>(above) / static_cast<double>(singles.size())};
}

}  // namespace

std::vector<ResultTable> s_bridge_fig9(const ReproduceOptions& options) {
    const std::vector<os::Program> programs = os::memory_bound_programs(kAlike, kArmRatios, options.seed);
    std::vector<ResultTable> tables{
        alike({arm_cores(1, 1), programs, options},
              "Fig. 9: 23 programs that wait for memory, 1 big core and 1 little, fixed clocks"),
        alike({arm_that_follows_load(), programs, options}, "The same, clocks follow the load")};
    tables[0].notes = {
        kGainColumns,
        "Published, of the time until the last program ends: cfs with the layer 5 % less than cfs."};
    tables[1].notes = {
        "The paper's model believes in the factor of the fixed clocks. Published: cfs with the layer "
        "slightly "
        "slower than cfs, hmp faster than both."};
    judge_fixed_clocks(tables[0]);
    judge_following_clocks(tables[1]);
    return tables;
}

std::vector<ResultTable> s_bridge_fig10(const ReproduceOptions& options) {
    const SystemTrials trials{arm_cores(1, 1), mibench(options), options};
    GainTable table("Fig. 10: the paper's model by its CPU factor, 1 big core and 1 little, over cfs", "cfs",
                    trials.without("cfs"));
    table.add("the same again", trials.again("cfs"));
    for (const double factor : {1.0, 1.5, 2.0, 2.5, 3.0, kArmRatios.most, 6.0}) {
        const std::vector<double> factors{1, factor};
        table.add(fmt::format("CPU factor {}", factor),
                  trials.with("cfs", os::paper_model(trials.machine(), factors)));
    }
    table.add("time ratio", trials.with("cfs"));
    table.note(kGainColumns);
    table.note(
        fmt::format("Published: best at 1.5. Here a program that only computes is {} times slower on the "
                    "little core.",
                    kArmRatios.most));
    ResultTable rows = table.rows();
    judge_cpu_factors(rows);
    return {rows};
}

std::vector<ResultTable> s_bridge_fig11(const ReproduceOptions& options) {
    ResultTable table{
        "Fig. 11: the layer by the little core's clock, 1 big core of 1.608 GHz and 1 little, over cfs",
        {{"little, GHz", 3},
         {"ratio", 2},
         {"again, %", 1},
         {"gain, %", 1},
         {"over aware, %", 1},
         {"paper's, %", 1},
         {"publ., %", 1},
         {"quarter <", 1},
         {"half <", 1},
         {"quarter >", 1},
         {"above 70, %", 1}}};
    for (const double little_ghz : {0.48, 0.6, 0.72, 0.912, 1.104}) {
        table.rows.push_back(clock_row({arm_at(little_ghz), mibench(options), options}, little_ghz));
    }
    table.notes = {
        "again: the control. over aware: the same over the capacity-aware scheduler. quarter, half: of all "
        "programs in all single runs, how much they gain. Published: at 0.72 half of the programs above 70 "
        "%."};
    add_verdicts(table, kGainRule, [](const std::vector<Cell>& row) {
        return gain_reproduces(row[3], row[6], std::abs(std::get<double>(row[2])));
    });
    return {table};
}

}  // namespace tidemill::cli
