#include "tidemill/cli/rx_page/run_view.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tidemill/run/insight/drawing.hpp"

namespace tidemill::cli {

namespace {

Json share(double us, double elapsed_us, std::size_t threads) {
    const double whole = elapsed_us * static_cast<double>(threads);
    return whole > 0 ? std::round(1000 * std::clamp(us / whole, 0.0, 1.0)) / 1000 : 0.0;
}

}  // namespace

RunView::RunView(Receivers& receivers, const CountedSource& samples, BandTap* band)
    : receivers_(receivers),
      samples_(samples),
      band_(band),
      view_(receivers.graph()),
      knobs_(receivers.graph()) {}

void RunView::follow(const Schedule& schedule) {
    const std::lock_guard lock(mutex_);
    schedule_ = schedule;
}

void RunView::step() {
    const std::lock_guard lock(mutex_);
    const LiveTimes times = this->times();
    recent_ = times.since(times_);
    times_ = times;
}

// Waiting for a radio is no work.
LiveTimes RunView::times() const {
    LiveTimes times = view_.times();
    const auto read = std::ranges::find(times.tasks, receivers_.reading_task(), &LiveTimes::TaskTime::name);
    if (read == times.tasks.end() || times.stages.empty()) return times;
    const double waited_us = samples_.waited_us();
    const double told_us = std::min(waited_us, read->work_us);  // a wait that lasts is in no call yet
    read->work_us -= told_us;
    times.stages[0].work_us = std::max(0.0, times.stages[0].work_us - told_us);
    times.stages[0].pull_us += waited_us;
    return times;
}

void RunView::draw() {
    view_.ask();
    if (!band_) return;
    Json db = band_->spectrum_db();
    if (db.get_if<Json::Array>()->empty()) return;
    const std::lock_guard lock(mutex_);
    band_db_ = std::move(db);
}

Json RunView::band_db() const {
    const std::lock_guard lock(mutex_);
    return band_db_;
}

Json RunView::stages() const {
    const std::lock_guard lock(mutex_);
    Json all = Json::array();
    for (const LiveTimes::StageTime& stage : recent_.stages) {
        all.push_back(Json{{"threads", stage.threads},
                           {"work", share(stage.work_us, recent_.elapsed_us, stage.threads)},
                           {"pull", share(stage.pull_us, recent_.elapsed_us, stage.threads)},
                           {"push", share(stage.push_us, recent_.elapsed_us, stage.threads)}});
    }
    return all;
}

std::string RunView::graph_svg(bool of_all_times) const {
    const std::lock_guard lock(mutex_);
    const RunReport report = (of_all_times ? times_ : recent_).report();
    return to_svg(receivers_.graph(), {.schedule = schedule_ ? &*schedule_ : nullptr,
                                       .report = report.elapsed_s > 0 ? &report : nullptr});
}

}  // namespace tidemill::cli
