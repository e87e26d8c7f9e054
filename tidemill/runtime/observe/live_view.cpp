#include "tidemill/runtime/observe/live_view.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/observe/socket_text.hpp"

namespace tidemill {

namespace {

// One writer.
void add_to(std::atomic<std::uint64_t>& sum, std::uint64_t more) {
    sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

double in_us(const std::atomic<std::uint64_t>& ticks) {
    return to_ns(ticks.load(std::memory_order_relaxed)) / 1e3;
}

LiveTimes::TaskTime& time_of(const std::string& task, LiveTimes& times) {
    const auto found = std::ranges::find(times.tasks, task, &LiveTimes::TaskTime::name);
    return found != times.tasks.end() ? *found : times.tasks.emplace_back(LiveTimes::TaskTime{.name = task});
}

}  // namespace

LiveTimes LiveTimes::since(const LiveTimes& before) const {
    LiveTimes more = *this;
    more.elapsed_us -= before.elapsed_us;
    for (TaskTime& task : more.tasks) {
        const auto found = std::ranges::find(before.tasks, task.name, &TaskTime::name);
        if (found == before.tasks.end()) continue;
        task.calls -= found->calls;
        task.work_us -= found->work_us;
    }
    const bool same = std::ranges::equal(stages, before.stages, [](const auto& now, const auto& then) {
        return now.threads == then.threads && now.work_us >= then.work_us;
    });
    if (!same) return more;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        more.stages[i].work_us -= before.stages[i].work_us;
        more.stages[i].pull_us -= before.stages[i].pull_us;
        more.stages[i].push_us -= before.stages[i].push_us;
    }
    return more;
}

RunReport LiveTimes::report() const {
    RunReport report;
    report.elapsed_s = elapsed_us / 1e6;
    for (const TaskTime& task : tasks) {
        TaskReport& told = report.tasks.emplace_back();
        told.name = task.name;
        told.calls.count = task.calls;
        told.calls.total_us = task.work_us;
        told.calls.mean_us = task.calls > 0 ? task.work_us / static_cast<double>(task.calls) : 0;
    }
    return report;
}

std::size_t LiveView::add(std::string_view socket, std::size_t elements) {
    for (std::size_t m = 0; m < graph_.module_count(); ++m) {
        const Module& module = graph_.module(m);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            if (module.path_of_socket(s) != socket) continue;
            const SocketInfo& info = module.sockets()[s];
            glances_.emplace_back(m, s, std::min(elements, info.count) * info.type.size);
            return glances_.size() - 1;
        }
    }
    throw GraphError(fmt::format("no socket '{}' to look at", socket));
}

void LiveView::ask() noexcept {
    for (Glance& glance : glances_) glance.wanted.store(true, std::memory_order_relaxed);
}

void LiveView::ask(std::size_t place) noexcept {
    glances_[place].wanted.store(true, std::memory_order_relaxed);
}

std::vector<std::byte> LiveView::content(std::size_t place) const {
    const std::lock_guard lock(mutex_);
    return glances_[place].content;
}

void LiveView::copy(Glance& glance, std::span<const std::byte> bytes) {
    const std::span<const std::byte> part = bytes.first(std::min(glance.bytes, bytes.size()));
    const std::lock_guard lock(mutex_);
    glance.content.resize(part.size());
    if (!part.empty()) std::memcpy(glance.content.data(), part.data(), part.size());
}

void LiveView::begin_run() {
    const std::lock_guard lock(mutex_);
    if (began_ == 0) began_ = ticks();
    crew_ = threads_.size();
}

ThreadObserver& LiveView::watch(const ObservedThread& thread) {
    const std::lock_guard lock(mutex_);
    // A stage's thread that is there already belongs to an earlier schedule.
    for (std::size_t t = crew_; t < threads_.size(); ++t) {
        if (threads_[t].stage_ == thread.stage && threads_[t].replica_ == thread.replica)
            crew_ = threads_.size();
    }
    return threads_.emplace_back(*this, thread);
}

LiveTimes LiveView::times() const {
    const std::lock_guard lock(mutex_);
    LiveTimes times;
    if (began_ > 0) times.elapsed_us = to_ns(ticks() - began_) / 1e3;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
        const Thread& thread = threads_[t];
        LiveTimes::StageTime of_thread{
            .threads = 1, .pull_us = in_us(thread.pull_ticks_), .push_us = in_us(thread.push_ticks_)};
        for (std::size_t step = 0; step < thread.steps_.size(); ++step) {
            LiveTimes::TaskTime& task = time_of(thread.names_[step], times);
            task.calls += thread.steps_[step].calls.load(std::memory_order_relaxed);
            task.work_us += in_us(thread.steps_[step].ticks);
            of_thread.work_us += in_us(thread.steps_[step].ticks);
        }
        if (t < crew_) continue;
        times.stages.resize(std::max(times.stages.size(), thread.stage_ + 1));
        LiveTimes::StageTime& stage = times.stages[thread.stage_];
        stage.threads += 1;
        stage.work_us += of_thread.work_us;
        stage.pull_us += of_thread.pull_us;
        stage.push_us += of_thread.push_us;
    }
    return times;
}

LiveView::Thread::Thread(LiveView& view, const ObservedThread& thread)
    : view_(view),
      stage_(thread.stage),
      replica_(thread.replica),
      glances_(thread.plan.steps.size()),
      steps_(thread.plan.steps.size()) {
    for (std::size_t step = 0; step < thread.plan.steps.size(); ++step) {
        const OrderedTask& task = thread.plan.steps[step].task;
        names_.push_back(task.name);
        for (Glance& glance : view.glances_) {
            const SocketInfo& socket = view.graph_.module(glance.module).sockets()[glance.socket];
            if (glance.module == task.id.module && socket.task == task.id.task)
                glances_[step].push_back(&glance);
        }
    }
}

void LiveView::Thread::called(const ObservedCall& call) {
    StepTime& time = steps_[call.step];
    add_to(time.calls, 1);
    add_to(time.ticks, call.end - call.start);
    const bool output_valid = call.flow == Flow::ok || call.flow == Flow::again;
    for (Glance* const glance : glances_[call.step]) {
        if (!glance->wanted.load(std::memory_order_relaxed)) continue;
        if (!output_valid && call.module.sockets()[glance->socket].direction != Direction::in) continue;
        const std::span<const std::byte> bytes = bytes_of(call.frame, call.module, glance->socket);
        if (bytes.data() && glance->wanted.exchange(false, std::memory_order_relaxed))
            view_.copy(*glance, bytes);
    }
}

void LiveView::Thread::waited(const ObservedWait& wait) {
    add_to(wait.pushes ? push_ticks_ : pull_ticks_, wait.end - wait.start);
}

}  // namespace tidemill
