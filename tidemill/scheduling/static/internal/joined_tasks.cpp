#include "tidemill/scheduling/static/internal/joined_tasks.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemill::internal {
namespace {

BatchLine times(const BatchLine& line, double factor) {
    return {line.batch_us * factor, line.frame_us * factor};
}

void add_line(BatchLine& sum, const BatchLine& line, double factor) {
    sum.batch_us += line.batch_us * factor;
    sum.frame_us += line.frame_us * factor;
}

// In frames of the task that has the fewest: a batch covers as many executions as theirs do together.
// Nothing where one of them has none.
std::optional<BatchCost> joined_cost(std::span<const ChainTask> tasks, const std::string& device) {
    BatchCost sum = *batch_cost(tasks.front(), device);
    for (const ChainTask& task : tasks) {
        const BatchCost& cost = *batch_cost(task, device);
        sum.frames = std::min(sum.frames, cost.frames);
        sum.most_frames = std::min(sum.most_frames, cost.most_frames);
    }
    if (sum.frames == 0) return {};
    BatchLine line;
    double host_us = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const BatchCost& cost = *batch_cost(tasks[i], device);
        const double share = cost.frames / sum.frames;
        add_line(line, {cost.batch_us, cost.frame_us}, share);
        if (i > 0) add_line(line, cost.in, -share);
        if (i + 1 < tasks.size()) add_line(line, cost.out, -share);
        host_us += cost.host_us * share;
    }
    const BatchCost& last = *batch_cost(tasks.back(), device);
    sum.in = times(sum.in, batch_cost(tasks.front(), device)->frames / sum.frames);
    sum.out = times(last.out, last.frames / sum.frames);
    sum.batch_us = std::max(line.batch_us, sum.in.batch_us + sum.out.batch_us);  // or a rounding step below
    sum.frame_us = std::max(line.frame_us, sum.in.frame_us + sum.out.frame_us);
    sum.host_us = host_us;
    sum.alone = {};
    return sum;
}

ChainTask joined_task(const Chain& chain, std::span<const ChainTask> tasks, const BatchCost& cost) {
    ChainTask joined{.name = {}, .replicable = true, .weight_us = {}};
    joined.weight_us.assign(chain.kinds.size(), 0);
    std::vector<std::string_view> names;
    for (const ChainTask& task : tasks) {
        names.push_back(task.name);
        joined.replicable &= task.replicable;
        for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind)
            joined.weight_us[kind] += task.weight_us[kind];
    }
    joined.name = fmt::format("{}", fmt::join(names, ", "));
    joined.bytes_after = tasks.back().bytes_after;
    joined.weight_us[chain.kind_index(cost.kind)] = cost.weight_us(cost.most_frames);
    joined.batches = {cost};
    return joined;
}

bool saves(std::span<const ChainTask> tasks, const std::string& device) {
    for (std::size_t i = 0; i + 1 < tasks.size(); ++i) {
        const BatchCost &before = *batch_cost(tasks[i], device), &behind = *batch_cost(tasks[i + 1], device);
        if (before.out != BatchLine{} || behind.in != BatchLine{}) return true;
    }
    return false;
}

JoinedTasks joined_of(const Chain& chain, std::size_t first, std::size_t count, const BatchCost& cost,
                      CostModel model) {
    const auto at = [](auto& all, std::size_t index) {
        return all.begin() + static_cast<std::ptrdiff_t>(index);
    };
    Chain one = chain;
    one.tasks[first] = joined_task(chain, std::span(chain.tasks).subspan(first, count), cost);
    one.tasks.erase(at(one.tasks, first + 1), at(one.tasks, first + count));
    if (!model.bytes_at_cut.empty())
        model.bytes_at_cut.erase(at(model.bytes_at_cut, first), at(model.bytes_at_cut, first + count - 1));
    return {rounded(std::move(one)), std::move(model), first, count};
}

}  // namespace

std::vector<JoinedTasks> joined_tasks(const Chain& chain, const std::string& device, const CostModel& model) {
    std::vector<JoinedTasks> all;
    for (std::size_t first = 0; first < chain.tasks.size(); ++first) {
        for (std::size_t end = first; end < chain.tasks.size() && batch_cost(chain.tasks[end], device);
             ++end) {
            const auto tasks = std::span(chain.tasks).subspan(first, end + 1 - first);
            if (!saves(tasks, device)) continue;
            if (const auto cost = joined_cost(tasks, device))
                all.push_back(joined_of(chain, first, tasks.size(), *cost, model));
        }
    }
    return all;
}

Schedule JoinedTasks::parted(Schedule schedule, const Chain& one_by_one, const CostModel& its_model) const {
    for (Stage& stage : schedule.stages) {
        const bool has_it = stage.first_task <= first && first < stage.first_task + stage.task_count;
        if (stage.first_task > first) stage.first_task += count - 1;
        if (has_it) stage.task_count += count - 1;
    }
    schedule.task_names.clear();
    for (const ChainTask& task : one_by_one.tasks) schedule.task_names.push_back(task.name);
    schedule.period_us = period_us(schedule, one_by_one, its_model);
    return schedule;
}

}  // namespace tidemill::internal
