#include "tidemill/runtime/observe/trace.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include <fmt/ostream.h>

#include "tidemill/base/json.hpp"
#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

namespace {

std::string quoted(const std::string& text) {
    return to_text(Json(text));
}

std::string name_of_stage(const ObservedThread& thread) {
    const std::vector<Part>& parts = thread.plan.stages[thread.stage].parts;
    const auto empty = [](const Part& part) { return part.first_step == part.last_step; };
    const auto first = std::find_if_not(parts.begin(), parts.end(), empty);
    const auto last = std::find_if_not(parts.rbegin(), parts.rend(), empty);
    const std::string& from = thread.plan.steps[first->first_step].task.name;
    const std::string& to = thread.plan.steps[last->last_step - 1].task.name;
    return fmt::format("stage {}: {}", thread.stage + 1, from == to ? from : from + " .. " + to);
}

}  // namespace

Trace::Trace(std::size_t events_per_thread) : events_per_thread_(events_per_thread) {
    if (events_per_thread == 0) throw RunError("a trace of no events: keep at least one per thread");
}

ThreadObserver& Trace::watch(const ObservedThread& thread) {
    return lanes_.emplace_back(thread, events_per_thread_);
}

std::uint64_t Trace::kept() const {
    std::uint64_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.kept();
    return sum;
}

std::uint64_t Trace::dropped() const {
    std::uint64_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.dropped();
    return sum;
}

std::uint64_t Trace::first_tick() const {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    for (const Lane& lane : lanes_) {
        // Events are kept in the order of their ends, so the oldest need not be the first to begin.
        for (std::uint64_t e = 0; e < lane.kept(); ++e) first = std::min(first, lane.event(e).start);
    }
    return first;
}

void Trace::write_names(std::ostream& to) const {
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
        const Lane& lane = lanes_[l];
        fmt::print(to,
                   R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}},)"
                   "\n",
                   lane.stage() + 1, quoted(lane.stage_name()));
        fmt::print(to,
                   R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"thread {}"}}}},)"
                   "\n",
                   lane.stage() + 1, l + 1, lane.replica() + 1);
    }
}

void Trace::write(std::ostream& to) const {
    const std::uint64_t first = first_tick();
    fmt::print(to, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    write_names(to);
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
        const Lane& lane = lanes_[l];
        for (std::uint64_t e = 0; e < lane.kept(); ++e) {
            const Event& event = lane.event(e);
            const bool waits = event.step >= kPullWait;
            fmt::print(to,
                       R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"cat":"{}","name":{},)"
                       R"("args":{{"frame":{},"segment":{}}}}},)"
                       "\n",
                       lane.stage() + 1, l + 1, to_ns(event.start - first) / 1000, to_ns(event.ticks) / 1000,
                       waits ? "wait" : "task", quoted(lane.name_of(event)), event.frame, event.segment);
        }
    }
    // An instant event ends the list, so that every line above may end with a comma.
    fmt::print(to,
               R"({{"ph":"i","s":"g","pid":1,"tid":1,"ts":0,"name":"{} events dropped"}})"
               "\n]}}\n",
               dropped());
}

void Trace::write(const std::filesystem::path& path) const {
    std::ofstream file(path);
    write(file);
    file.close();
    if (!file) throw RunError(fmt::format("cannot write the trace to {}", path.string()));
}

Trace::Lane::Lane(const ObservedThread& thread, std::size_t events)
    : stage_(thread.stage), replica_(thread.replica), stage_name_(name_of_stage(thread)), events_(events) {
    for (const Step& step : thread.plan.steps) steps_.push_back(step.task.name);
}

void Trace::Lane::called(const ObservedCall& call) {
    add({call.start, call.end - call.start, call.frame.number(), call.step, call.task.segment});
}

void Trace::Lane::waited(const ObservedWait& wait) {
    add({wait.start, wait.end - wait.start, wait.frame, wait.pushes ? kPushWait : kPullWait, wait.segment});
}

void Trace::Lane::add(const Event& event) {
    events_[next_] = event;
    if (++next_ == events_.size()) next_ = 0;
    ++written_;
}

const Trace::Event& Trace::Lane::event(std::uint64_t index) const {
    const std::uint64_t oldest = written_ < events_.size() ? 0 : next_;
    return events_[(oldest + index) % events_.size()];
}

std::string Trace::Lane::name_of(const Event& event) const {
    if (event.step == kPullWait) return "wait for input";
    if (event.step == kPushWait) return "wait for a free token";
    return steps_[event.step];
}

}  // namespace tidemill
