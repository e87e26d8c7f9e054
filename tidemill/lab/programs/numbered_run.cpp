#include "tidemill/lab/programs/numbered_run.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tidemill {

// A task's own copy of what it is to do.
struct NumberedRun::NumberedTask {
    Pastime pastime;
    double time_us;
    std::uint64_t seed;
    std::uint64_t* to;
    std::vector<const std::uint64_t*> from;

    void operator()() const {
        std::uint64_t value = seed;
        for (const std::uint64_t* each : from) value = mixed(value, *each);
        *to = pass_time(pastime, time_us, value);
    }
};

NumberedRun::NumberedRun(TaskProgram& program, std::uint64_t window_iterations, Pastime pastime,
                         double time_factor)
    : program_(program),
      pastime_(pastime),
      time_factor_(time_factor),
      numbers_(program.reach(window_iterations) + 1) {
    count_exclusions();
}

void NumberedRun::count_exclusions() {
    program_.restart();
    std::size_t count = 0;
    for (std::uint64_t number = 0; number < program_.tasks(); ++number) {
        program_.next(task_);
        for (const policy::ExclusionId id : task_.exclusions) count = std::max<std::size_t>(count, id + 1);
    }
    exclusions_.resize(count);
}

NumberedRun::NumberedTask NumberedRun::next_task(std::uint64_t number) {
    program_.next(task_);
    NumberedTask task{
        pastime_, time_factor_ * task_.work_us, mixed(number, task_.type), &number_of(number), {}};
    for (const Predecessor& before : task_.predecessors) task.from.push_back(&number_of(before.number));
    return task;
}

void NumberedRun::run(Tasks* tasks) {
    std::vector<TaskType> types;
    for (const std::string& type : program_.types()) {
        if (tasks) types.push_back(tasks->type(type));
    }
    std::vector<Access> accesses;
    program_.restart();
    task_.iteration = 0;
    for (std::uint64_t number = 0; number < program_.tasks(); ++number) {
        const std::uint64_t iteration = task_.iteration;
        NumberedTask task = next_task(number);
        if (!tasks) {
            task();
            continue;
        }
        if (task_.iteration != iteration) tasks->next_iteration();
        accesses.assign({writes(*task.to)});
        for (const std::uint64_t* from : task.from) accesses.push_back(reads(*from));
        for (const policy::ExclusionId id : task_.exclusions) accesses.push_back(commutes(exclusions_[id]));
        tasks->spawn(types[task_.type], accesses, std::move(task));
    }
}

std::uint64_t NumberedRun::digest() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t number : numbers_) sum = mixed(sum, number);
    return sum;
}

}  // namespace tidemill
