#include "tidemill/steer/layer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::bridge {

namespace {

// Beyond this, more or less time for the same work is no noise.
constexpr double kFar = 1.5;

}  // namespace

Layer::Layer(std::size_t most_tasks, std::size_t kinds, Model model)
    : kinds_(kinds),
      model_(std::move(model)),
      entries_(most_tasks),
      histories_(most_tasks * kinds),
      factors_(most_tasks, kinds) {
    if (most_tasks == 0 || kinds == 0) {
        throw BridgeError(fmt::format("factors for {} tasks on {} kinds of cores: give one of each at least",
                                      most_tasks, kinds));
    }
}

void Layer::create(TaskId task) {
    entries_[task].remembered = nullptr;
    forget(task);
    // At once: the last owner of this place must not be read.
    for (policy::KindId kind = 0; kind < kinds_; ++kind) factors_.write(task, kind, 1, Quality::absent);
}

void Layer::exec(TaskId task, std::string_view program) {
    create(task);
    auto known = remembered_.find(program);
    if (known == remembered_.end()) known = remembered_.emplace(program, kinds_).first;
    entries_[task].remembered = &known->second;
    std::ranges::copy(known->second, histories(task).begin());
    tell_news(task);
}

void Layer::migrate(TaskId task, policy::KindId from, const Sample& done) {
    statistic(task, from, done);
}

void Layer::statistic(TaskId task, policy::KindId kind, const Sample& done) {
    if (done.time_ns == 0) return;
    if (has_changed(task, kind, done)) forget(task);
    histories(task)[kind].note(done);
    tell_news(task);
}

void Layer::generate() {
    if (news_.empty()) return;
    factors_.begin_version();
    for (const TaskId task : news_) write_factors(task);
    news_.clear();
}

void Layer::exit(TaskId task) {
    if (entries_[task].remembered != nullptr) {
        std::ranges::copy(histories(task), entries_[task].remembered->begin());
    }
    create(task);
}

bool Layer::has_changed(TaskId task, policy::KindId kind, const Sample& done) {
    const double before_ns = histories(task)[kind].ns_per_instruction();
    if (before_ns == 0 || done.instructions == 0) return false;
    const double now_ns = static_cast<double>(done.time_ns) / static_cast<double>(done.instructions);
    const bool far = now_ns > kFar * before_ns || before_ns > kFar * now_ns;
    std::uint8_t& strikes = entries_[task].strikes;
    strikes = far ? strikes + 1 : 0;
    return strikes >= kStrikes;
}

void Layer::forget(TaskId task) {
    std::ranges::fill(histories(task), History{});
    entries_[task].strikes = 0;
}

void Layer::tell_news(TaskId task) {
    if (!std::exchange(entries_[task].news, true)) news_.push_back(task);
}

void Layer::write_factors(TaskId task) {
    entries_[task].news = false;
    const std::span<const History> on_kinds = histories(task);
    for (policy::KindId kind = 0; kind < kinds_; ++kind) {
        const Factor factor = model_(on_kinds, kind);
        factors_.write(task, kind, factor.value, factor.quality);
    }
}

}  // namespace tidemill::bridge
