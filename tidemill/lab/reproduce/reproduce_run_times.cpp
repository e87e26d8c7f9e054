#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>

#include <fmt/format.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/random_chain.hpp"
#include "tidemill/lab/sim/strategy_study.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"
#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill::cli {

namespace {

constexpr std::size_t kProgrammeChains = 3;  // the published programme takes its time
constexpr double kProgrammeSteps = 4e9;      // up to half a second for one chain

// Time of this thread's own computing, so that neighbours on a shared machine do not count.
double microseconds(const std::function<void()>& work) {
    interruption_point();
    const auto now_us = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
    };
    const double start_us = now_us();
    work();
    return now_us() - start_us;
}

double programme_us(const Chain& chain, const Platform& platform) {
    internal::Instance instance;
    instance.cores = {platform.big, platform.little};
    instance.weights.resize(2);
    for (const ChainTask& task : chain.tasks) {
        instance.replicable.push_back(task.replicable);
        for (std::size_t kind : {0u, 1u}) {
            instance.weights[kind].push_back(static_cast<std::uint64_t>(task.weight_us[kind]));
        }
    }
    return microseconds([&] { internal::PublishedHerad(instance).best(); });
}

bool programme_affordable(std::size_t tasks, const Platform& platform) {
    const double cores = platform.big * platform.little * (platform.big + platform.little);
    return cores * static_cast<double>(tasks * tasks) <= kProgrammeSteps;
}

std::vector<Cell> row_of(std::size_t tasks, const Platform& platform, double stateless,
                         const ReproduceOptions& options) {
    std::mt19937_64 random(options.seed);
    std::vector<Chain> chains(options.timed);
    for (Chain& chain : chains) chain = random_chain(random, {.tasks = tasks, .stateless = stateless});
    std::vector<Cell> row{static_cast<double>(tasks), fmt::format("({},{})", platform.big, platform.little),
                          stateless};
    double herad_us = 0;
    for (const Strategy& strategy : published_strategies()) {
        std::vector<double> times_us;
        strategy.schedule(chains.front(), platform);  // warms up
        for (const Chain& chain : chains) {
            times_us.push_back(microseconds([&] { strategy.schedule(chain, platform); }));
        }
        row.emplace_back(mean_of(times_us).value);
        if (strategy.name == "herad") herad_us = mean_of(times_us).value;
    }
    if (!programme_affordable(tasks, platform)) {
        row.insert(row.end(), {Cell{}, Cell{}});
        return row;
    }
    std::vector<double> times_us;
    for (std::size_t i = 0; i < std::min(chains.size(), kProgrammeChains); ++i) {
        times_us.push_back(programme_us(chains[i], platform));
    }
    const double theirs_us = mean_of(times_us).value;
    row.insert(row.end(), {theirs_us / 1000, theirs_us / herad_us});
    return row;
}

// Columns as empty_table() has them: the greedy strategies in us, the published programme in ms.
Verdict is_slowest(const std::vector<Cell>& row) {
    const auto* const programme_ms = std::get_if<double>(&row[row.size() - 2]);
    if (programme_ms == nullptr) return Verdict::cannot_tell;
    double slowest_us = 0;
    for (std::size_t i = 0; i < published_strategies().size(); ++i)
        if (published_strategies()[i].name == "fertac" || published_strategies()[i].name == "2catac")
            slowest_us = std::max(slowest_us, std::get<double>(row[3 + i]));
    return yes_if(1000 * *programme_ms > slowest_us);
}

ResultTable empty_table(std::string title) {
    ResultTable table{std::move(title), {{"tasks", 0}, {"cores"}, {"stateless", 1}}};
    for (const Strategy& strategy : published_strategies())
        table.columns.push_back({fmt::format("{} us", strategy.name), 1});
    table.columns.insert(table.columns.end(), {{"published HeRAD ms", 2}, {"times slower", 0}});
    return table;
}

}  // namespace

std::vector<ResultTable> fig7(const ReproduceOptions& options) {
    ResultTable by_tasks = empty_table(fmt::format(
        "Fig. 7: processor time of a schedule by number of tasks, mean of {} chains", options.timed));
    ResultTable by_cores = empty_table("Fig. 7: the same by number of cores");
    for (const double stateless : {0.2, 0.5, 0.8}) {
        for (const std::size_t tasks : {20, 40, 60, 80, 120, 160}) {
            by_tasks.rows.push_back(row_of(tasks, {20, 20}, stateless, options));
        }
        for (const int cores : {20, 40, 80, 120, 160}) {
            by_cores.rows.push_back(row_of(60, {cores, cores}, stateless, options));
        }
    }
    by_cores.notes.push_back(fmt::format(
        "Published as curves: greedy strategies in microseconds, 2CATAC up to 60 tasks only (its "
        "time was exponential), HeRAD from milliseconds upwards. The last columns time the "
        "published programme here and now, on {} chains where one takes less than about a second.",
        kProgrammeChains));
    for (ResultTable* const table : {&by_tasks, &by_cores})
        add_verdicts(*table,
                     "the published HeRAD takes longer here than FERTAC and 2CATAC, as there; the curves "
                     "themselves are a picture.",
                     is_slowest);
    return {by_tasks, by_cores};
}

}  // namespace tidemill::cli
