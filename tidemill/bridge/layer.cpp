#include "tidemill/bridge/layer.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/bridge/bridge_error.hpp"

namespace tidemill::bridge {

namespace {

// Beyond this, more or less time for the same work is no noise.
constexpr double kFar = 1.5;

}  // namespace

Layer::Layer(std::size_t most_tasks, std::size_t kinds, Model model)
    : kinds_(kinds), model_(std::move(model)), entries_(most_tasks), factors_(most_tasks, kinds) {
    if (most_tasks == 0 || kinds == 0) {
        throw BridgeError(fmt::format("factors for {} tasks on {} kinds of cores: give one of each at least",
                                      most_tasks, kinds));
    }
    for (Entry& entry : entries_) entry.on_kinds.resize(kinds);
}

void Layer::create(TaskId task) {
    entries_[task].program.clear();
    forget(entries_[task]);
    tell_news(task);
}

void Layer::exec(TaskId task, std::string_view program) {
    create(task);
    entries_[task].program = program;
    const auto known = remembered_.find(program);
    if (known != remembered_.end()) entries_[task].on_kinds = known->second;
}

void Layer::migrate(TaskId task, policy::KindId from, const Sample& done) {
    statistic(task, from, done);
}

void Layer::statistic(TaskId task, policy::KindId kind, const Sample& done) {
    if (done.time_ns == 0) return;
    Entry& entry = entries_[task];
    if (has_changed(entry, kind, done)) forget(entry);
    entry.on_kinds[kind].note(done);
    tell_news(task);
}

void Layer::generate() {
    if (news_.empty()) return;
    factors_.begin_version();
    for (const TaskId task : news_) write_factors(task);
    news_.clear();
}

void Layer::exit(TaskId task) {
    Entry& entry = entries_[task];
    if (!entry.program.empty()) remembered_[entry.program] = entry.on_kinds;
    create(task);
}

bool Layer::has_changed(Entry& entry, policy::KindId kind, const Sample& done) const {
    const double before_ns = entry.on_kinds[kind].ns_per_instruction();
    if (before_ns == 0 || done.instructions == 0) return false;
    const double now_ns = static_cast<double>(done.time_ns) / static_cast<double>(done.instructions);
    const bool far = now_ns > kFar * before_ns || before_ns > kFar * now_ns;
    entry.strikes = far ? entry.strikes + 1 : 0;
    return entry.strikes >= kStrikes;
}

void Layer::forget(Entry& entry) const {
    entry.on_kinds.assign(kinds_, {});
    entry.strikes = 0;
}

void Layer::tell_news(TaskId task) {
    if (!std::exchange(entries_[task].news, true)) news_.push_back(task);
}

void Layer::write_factors(TaskId task) {
    Entry& entry = entries_[task];
    entry.news = false;
    for (policy::KindId kind = 0; kind < kinds_; ++kind) {
        const Factor factor = model_(entry.on_kinds, kind);
        factors_.write(task, kind, factor.value, factor.quality);
    }
}

}  // namespace tidemill::bridge
