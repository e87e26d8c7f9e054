#include "tidemill/runtime/observe/watchdog.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/repeated.hpp"
#include "tidemill/runtime/graph/plan.hpp"

namespace tidemill {

namespace {

const Part* first_part_with_steps(const PlannedStage& stage) {
    for (const Part& part : stage.parts) {
        if (part.first_step < part.last_step) return &part;
    }
    return nullptr;
}

// "decoder.bits (from demapper.llrs)" for every input of the stage that another stage fills.
std::vector<std::string> inputs_of(const Graph& graph, const Plan& plan, std::size_t stage) {
    const auto stage_of = [&](std::size_t module, std::uint32_t task) {
        for (std::size_t s = 0; s < plan.stages.size(); ++s) {
            for (const Part& part : plan.stages[s].parts) {
                for (std::uint32_t step = part.first_step; step < part.last_step; ++step) {
                    if (plan.steps[step].task.id == TaskId{static_cast<std::uint32_t>(module), task})
                        return s;
                }
            }
        }
        return plan.stages.size();
    };
    std::vector<std::string> found;
    for (std::size_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const internal::Source* source = graph.source_of(m, s);
            if (!source || !source->module || stage_of(m, module.sockets()[s].task) != stage) continue;
            const std::uint32_t maker = source->module->sockets()[source->socket].task;
            if (stage_of(graph.index_of(*source->module), maker) == stage) continue;
            found.push_back(fmt::format("{} (from {})", module.path_of_socket(s),
                                        source->module->path_of_socket(source->socket)));
        }
    }
    return found;
}

std::vector<std::string> last_tasks(const Plan& plan) {
    std::vector<std::string> names(plan.segments.size());
    for (const Step& step : plan.steps) names[step.task.segment] = step.task.name;
    return names;
}

}  // namespace

Watchdog::Lane::Lane(const Graph& graph, const ObservedThread& thread)
    : who_(fmt::format("stage {}, thread {}", thread.stage + 1, thread.replica + 1)),
      inputs_(inputs_of(graph, thread.plan, thread.stage)),
      last_of_(last_tasks(thread.plan)) {
    if (const Part* part = first_part_with_steps(thread.plan.stages[thread.stage])) {
        who_ += fmt::format(" ({})", thread.plan.steps[part->first_step].task.name);
    }
}

void Watchdog::Lane::note(Doing doing) {
    const std::lock_guard lock(mutex_);
    doing_ = doing;
    ++events_;
}

void Watchdog::Lane::calling(const OrderedTask& task, std::uint64_t frame) {
    const std::lock_guard lock(mutex_);
    doing_ = Doing::running;
    task_ = task.name;
    frame_ = frame;
    ++events_;
}

void Watchdog::Lane::waiting(std::uint32_t segment, bool pushes) {
    const std::lock_guard lock(mutex_);
    doing_ = pushes ? Doing::pushing : Doing::pulling;
    segment_ = segment;
    ++events_;
}

std::uint64_t Watchdog::Lane::events() const {
    const std::lock_guard lock(mutex_);
    return events_;
}

std::string Watchdog::Lane::text() const {
    const std::lock_guard lock(mutex_);
    switch (doing_) {
        case Doing::running:
            return fmt::format("{}: in {}, frame {}", who_, task_, frame_);
        case Doing::pulling:
            return fmt::format("{}: waits for {}", who_, fmt::join(inputs_, ", "));
        case Doing::pushing:
            return fmt::format("{}: waits until {} is done with an earlier frame", who_, last_of_[segment_]);
        case Doing::starting:
        case Doing::between:
            break;
    }
    return fmt::format("{}: between two tasks", who_);
}

Watchdog::Watchdog(const Graph& graph, std::chrono::milliseconds patience, Report report)
    : graph_(graph), patience_(patience), report_(std::move(report)) {}

Watchdog::~Watchdog() {
    internal::thrown_by([this] { end_run(); });
}

void Watchdog::begin_run() {
    end_run();
    since_.reset();
    watcher_ = std::make_unique<Repeated>(patience_ / 4, [this] {
        if (const auto text = look(Clock::now())) report_(*text);
        return true;
    });
}

void Watchdog::end_run() {
    const auto watcher = std::exchange(watcher_, nullptr);
    const std::exception_ptr failure = watcher ? watcher->end() : nullptr;
    if (failure) std::rethrow_exception(failure);
}

ThreadObserver& Watchdog::watch(const ObservedThread& thread) {
    const std::lock_guard lock(mutex_);
    const bool new_crew = thread.stage == 0 && thread.replica == 0;
    if (new_crew) lanes_.clear();
    return lanes_.emplace_back(graph_, thread);
}

std::optional<std::string> Watchdog::look(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    std::uint64_t events = lanes_.size();
    for (const Lane& lane : lanes_) events += lane.events();
    if (!since_ || events != seen_) {
        seen_ = events;
        since_ = now;
        told_ = false;
    }
    if (told_ || now - *since_ < patience_) return {};
    told_ = true;
    std::string text = fmt::format("nothing has moved for {:.1f} s:\n",
                                   std::chrono::duration<double>(now - *since_).count());
    for (const Lane& lane : lanes_) text += "  " + lane.text() + "\n";
    return text;
}

}  // namespace tidemill
