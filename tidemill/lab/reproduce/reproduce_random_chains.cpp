#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tidemill/base/plural.hpp"
#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/published.hpp"
#include "tidemill/lab/sim/strategy_study.hpp"

namespace tidemill::cli {

namespace {

struct Setting {
    Platform platform;
    double stateless;
};

// Settings of Table 1 and Fig. 5. 5.
std::vector<Setting> settings() {
    std::vector<Setting> all;
    for (const Platform& platform : {Platform{16, 4}, Platform{10, 10}, Platform{4, 16}}) {
        for (const double stateless : {0.2, 0.5, 0.8}) all.push_back({platform, stateless});
    }
    return all;
}

std::vector<StrategyResults> study(const Setting& setting, const ReproduceOptions& options) {
    return study_strategies({.stateless = setting.stateless}, setting.platform, options.chains, options.seed);
}

std::string cores_text(const Platform& platform) {
    return fmt::format("({},{})", platform.big, platform.little);
}

const PublishedRow& published(const std::vector<PublishedRow>& table, const Setting& setting,
                              const std::string& strategy) {
    return *std::ranges::find_if(table, [&](const PublishedRow& row) {
        return row.count("big") == setting.platform.big && row.count("little") == setting.platform.little &&
               row.number("stateless") == setting.stateless && row.text("strategy") == strategy;
    });
}

Estimate percent_optimal(const StrategyResults& results) {
    const auto best = std::ranges::count(results.slowdown, 1.0);
    const Estimate share = share_of(static_cast<std::size_t>(best), results.slowdown.size());
    return {100 * share.value, 100 * share.standard_error};
}

// A row of Table 1 under construction: ours, theirs, our standard error, and what does not agree.
class Comparison {
  public:
    Comparison(std::vector<Cell> head, const PublishedRow& theirs, std::size_t sample)
        : cells_(std::move(head)), theirs_(theirs), sample_(sample) {}

    void add(const Estimate& ours, const std::string& column, double rounding) {
        cells_.insert(cells_.end(), {ours.value, theirs_.number(column), ours.standard_error});
        ++compared_;
        if (agrees(ours, sample_, {theirs_.number(column), rounding})) return;
        differing_ += (differing_.empty() ? "" : ", ") + column;
        ++differences_;
    }
    // The largest of a sample has no standard error to speak of.
    void add_uncompared(double ours, const std::string& column) {
        cells_.insert(cells_.end(), {ours, theirs_.number(column)});
    }

    std::size_t compared() const { return compared_; }
    std::size_t differences() const { return differences_; }
    std::vector<Cell> row() && {
        cells_.push_back(differing_.empty() ? Cell{} : Cell{differing_});
        cells_.push_back(to_cell(yes_if(differing_.empty())));
        return std::move(cells_);
    }

  private:
    std::vector<Cell> cells_;
    const PublishedRow& theirs_;
    std::size_t sample_;
    std::string differing_;
    std::size_t compared_ = 0;
    std::size_t differences_ = 0;
};

ResultTable table1_head(const ReproduceOptions& options) {
    ResultTable table{fmt::format("Table 1: {} chains of 20 tasks (seed {}); each number of ours, then the "
                                  "published one, then the standard error of ours",
                                  options.chains, options.seed),
                      {{"cores"}, {"stateless", 1}, {"strategy"}}};
    const auto three = [&](const std::string& name, int decimals) {
        table.columns.insert(table.columns.end(),
                             {{name, decimals}, {name + " publ.", decimals}, {name + " +-", decimals + 1}});
    };
    three("% opt.", 1);
    three("mean", 3);
    three("median", 3);
    table.columns.insert(table.columns.end(), {{"largest", 3}, {"largest publ.", 3}});
    three("big", 2);
    three("little", 2);
    table.columns.insert(table.columns.end(), {{"differs in"}, {kReproduces}});
    return table;
}

}  // namespace

std::vector<ResultTable> table1(const ReproduceOptions& options) {
    ResultTable table = table1_head(options);
    const std::vector<PublishedRow> theirs = published_table("table1");
    std::size_t compared = 0;
    std::size_t differences = 0;
    for (const Setting& setting : settings()) {
        for (const StrategyResults& ours : study(setting, options)) {
            Comparison row({cores_text(setting.platform), setting.stateless, ours.strategy},
                           published(theirs, setting, ours.strategy), options.chains);
            row.add(percent_optimal(ours), "percent_optimal", 0.1);
            row.add(mean_of(ours.slowdown), "mean", 0.001);
            row.add(median_of(ours.slowdown), "median", 0.001);
            row.add_uncompared(std::ranges::max(ours.slowdown), "largest");
            row.add(mean_of(ours.big), "mean_big", 0.01);
            row.add(mean_of(ours.little), "mean_little", 0.01);
            compared += row.compared();
            differences += row.differences();
            table.rows.push_back(std::move(row).row());
        }
    }
    table.notes.push_back(
        fmt::format("{} of {} numbers agree within three standard errors of the difference.",
                    compared - differences, compared));
    table.notes.emplace_back("reproduces: yes where all numbers of a row do.");
    return {table};
}

std::vector<ResultTable> fig5(const ReproduceOptions& options) {
    constexpr double kPublishedChains = 1000;
    constexpr double kLimits[] = {1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 2, 3, 5, 10, 20};
    ResultTable table{fmt::format("Fig. 5: percentage of {} chains with at most this slowdown (seed {})",
                                  options.chains, options.seed),
                      {{"cores"}, {"stateless", 1}, {"strategy"}, {"1 publ.", 1}}};
    for (const double limit : kLimits) table.columns.push_back({fmt::format("{}", limit), 1});
    table.columns.insert(table.columns.end(), {{"median", 3}, {"median publ.", 3}});
    const std::vector<PublishedRow> theirs = published_table("table1");
    for (const Setting& setting : settings()) {
        for (const StrategyResults& ours : study(setting, options)) {
            const PublishedRow& known = published(theirs, setting, ours.strategy);
            std::vector<Cell> row{cores_text(setting.platform), setting.stateless, ours.strategy,
                                  known.number("percent_optimal")};
            for (const double limit : kLimits) row.emplace_back(100 * ours.share_within(limit));
            row.insert(row.end(), {median_of(ours.slowdown).value, known.number("median")});
            table.rows.push_back(std::move(row));
        }
    }
    table.notes.emplace_back(
        "Published as curves: the known points are those of Table 1 (slowdown 1, median).");
    add_verdicts(table,
                 "the share of optimal schedules is the published one within three standard errors of a "
                 "difference of two such samples.",
                 [&](const std::vector<Cell>& row) {
                     const double our_share = std::get<double>(row[4]) / 100,
                                  published_share = std::get<double>(row[3]) / 100;
                     const double both = (our_share * (1 - our_share) / static_cast<double>(options.chains)) +
                                         (published_share * (1 - published_share) / kPublishedChains);
                     constexpr double kRounding = 0.0005;
                     return yes_if(std::abs(our_share - published_share) <= 3 * std::sqrt(both) + kRounding);
                 });
    return {table};
}

namespace {

using Steps = std::map<std::pair<int, int>, int>;  // (little, big) more than HeRAD: chains

Steps extra_cores(const StrategyResults& greedy, const StrategyResults& best, bool optimal_only) {
    Steps counts;
    for (std::size_t i = 0; i < best.big.size(); ++i) {
        if (optimal_only && greedy.slowdown[i] != 1) continue;
        ++counts[{static_cast<int>(greedy.little[i] - best.little[i]),
                  static_cast<int>(greedy.big[i] - best.big[i])}];
    }
    return counts;
}

double percent_with_at_most(const Steps& counts, int cores, int total) {
    int within = 0;
    for (const auto& [extra, count] : counts) within += extra.first + extra.second <= cores ? count : 0;
    return 100.0 * within / total;
}

ResultTable heat_map(const std::string& title, const Steps& counts) {
    ResultTable table{title, {{"little \\ big"}}};
    int total = 0;
    int lines[2] = {0, 0};
    int columns[2] = {0, 0};
    for (const auto& [extra, count] : counts) {
        total += count;
        lines[0] = std::min(lines[0], extra.first);
        lines[1] = std::max(lines[1], extra.first);
        columns[0] = std::min(columns[0], extra.second);
        columns[1] = std::max(columns[1], extra.second);
    }
    for (int big = columns[0]; big <= columns[1]; ++big)
        table.columns.push_back({fmt::format("{:+}", big), 1});
    for (int little = lines[1]; little >= lines[0]; --little) {
        std::vector<Cell> row{fmt::format("{:+}", little)};
        for (int big = columns[0]; big <= columns[1]; ++big) {
            Cell& cell = row.emplace_back();
            const auto found = counts.find({little, big});
            if (found != counts.end()) cell = 100.0 * found->second / total;
        }
        table.rows.push_back(std::move(row));
    }
    for (const int cores : {1, 2}) {
        table.notes.push_back(fmt::format("At most {} more core{} in all: {:.1f} % of {} chains.", cores,
                                          plural(cores), percent_with_at_most(counts, cores, total), total));
    }
    return table;
}

const StrategyResults& of(const std::vector<StrategyResults>& all, std::string_view strategy) {
    return *std::ranges::find(all, strategy, &StrategyResults::strategy);
}

}  // namespace

std::vector<ResultTable> fig6(const ReproduceOptions& options) {
    const Setting setting{{10, 10}, 0.5};
    const std::vector<StrategyResults> ours = study(setting, options);
    const StrategyResults& fertac = of(ours, "fertac");
    const StrategyResults& herad = of(ours, "herad");
    const std::vector<PublishedRow> theirs = published_table("table1");
    const auto more = [&](const std::string& column) {
        return published(theirs, setting, "fertac").number(column) -
               published(theirs, setting, "herad").number(column);
    };
    std::vector<ResultTable> maps{
        heat_map("Fig. 6(a): percentage of chains for which FERTAC uses so many cores more than HeRAD, cores "
                 "(10,10), half of the tasks replicable",
                 extra_cores(fertac, herad, false)),
        heat_map("Fig. 6(b): the same where FERTAC finds the least period",
                 extra_cores(fertac, herad, true))};
    maps[0].notes.push_back(fmt::format(
        "On average {:+.2f} big and {:+.2f} little cores; published (Table 1) {:+.2f} and {:+.2f}.",
        mean_of(fertac.big).value - mean_of(herad.big).value,
        mean_of(fertac.little).value - mean_of(herad.little).value, more("mean_big"), more("mean_little")));
    maps[1].notes.push_back(fmt::format(
        "FERTAC finds the least period for {:.1f} % of the chains; published {:.1f} %.",
        percent_optimal(fertac).value, published(theirs, setting, "fertac").number("percent_optimal")));
    for (ResultTable& map : maps)
        add_no_verdicts(map, "the published cells are a picture; what the text says of them is above.");
    return maps;
}

}  // namespace tidemill::cli
