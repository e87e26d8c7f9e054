#include "tidemill/lab/reproduce/system_trials.hpp"

#include <cmath>

#include "tidemill/lab/sim/published.hpp"

namespace tidemill::cli {

namespace {

constexpr std::uint64_t kSeries = 3;  // without, again and with the layer: each has seeds of its own

}  // namespace

os::Machine arm_cores(std::size_t big, std::size_t little, const os::Ratios& ratios) {
    return os::big_little(big, little, {.name = "big", .clock_ghz = kBigArm_ghz},
                          {.name = "little", .speed = 1 / ratios.most, .clock_ghz = kLittleArm_ghz});
}

std::vector<os::Program> mibench(const ReproduceOptions& options, const os::Ratios& ratios) {
    return os::published_programs("mibench", ratios, options.seed);
}

Cell published_percent(std::string_view figure, std::string_view of) {
    for (const PublishedRow& row : published_table("sbridge")) {
        if (row.text("figure") == figure && row.text("program") == of) return row.number("percent");
    }
    return {};
}

os::Measured SystemTrials::without(std::string_view scheduler) const {
    return measured({.scheduler = scheduler}, 0);
}

os::Measured SystemTrials::again(std::string_view scheduler) const {
    return measured({.scheduler = scheduler}, 1);
}

os::Measured SystemTrials::with(std::string_view scheduler, bridge::Model model, bool exchanges) const {
    return measured({.scheduler = scheduler, .model = std::move(model), .exchanges = exchanges}, 2);
}

os::Measured SystemTrials::measured(os::Experiment experiment, std::uint64_t which) const {
    experiment.machine = machine_;
    experiment.programs = programs_;
    return os::measure(experiment, options_.runs, kSeries * options_.seed + which);
}

GainTable::GainTable(std::string title, const std::string& baseline, os::Measured before)
    : before_(std::move(before)),
      table_{std::move(title),
             {{"system"},
              {"gain, %", 1},
              {"+-", 1},
              {"paper's, %", 1},
              {"publ., %", 1},
              {"least, %", 1},
              {"makespan, s", 2},
              {"less, %", 1},
              {"unfairness", 2},
              {"slowdown", 1},
              {"migrations", 0}}} {
    table_.rows.push_back({baseline,
                           {},
                           {},
                           {},
                           {},
                           {},
                           before_.makespan_s,
                           {},
                           before_.unfairness,
                           before_.slowdown,
                           before_.migrations});
}

ResultTable GainTable::table() const {
    ResultTable table = table_;
    const double control = std::abs(std::get<double>(table.rows[1][1]));
    add_verdicts(table, kGainRule, [control](const std::vector<Cell>& row) {
        return gain_reproduces(row[1], row[4], control);
    });
    return table;
}

Verdict gain_reproduces(const Cell& gain, const Cell& published, double control) {
    const auto* const ours = std::get_if<double>(&gain);
    const auto* const theirs = std::get_if<double>(&published);
    if (ours == nullptr || theirs == nullptr || std::abs(*ours) <= control) return Verdict::cannot_tell;
    return yes_if((*ours > 0) == (*theirs > 0));
}

void GainTable::add(const std::string& system, const os::Measured& after, const Cell& published) {
    const os::Gain gain = os::gain(before_, after);
    table_.rows.push_back({system, 100 * gain.geometric, 100 * gain.of_twelve, 100 * gain.published,
                           published, 100 * gain.least, after.makespan_s, 100 * gain.makespan,
                           after.unfairness, after.slowdown, after.migrations});
}

}  // namespace tidemill::cli
