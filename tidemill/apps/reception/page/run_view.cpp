#include "tidemill/apps/reception/page/run_view.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tidemill/runtime/observe/drawing.hpp"

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
      knobs_(receivers.graph()),
      times_(receivers.reading_task()) {}

void RunView::follow(const Schedule& schedule) {
    const std::lock_guard lock(mutex_);
    schedule_ = schedule;
}

void RunView::step() {
    const std::lock_guard lock(mutex_);
    const double idle_us = samples_.idle_us(), waiting_us = samples_.waiting_us();
    times_.step(view_.times(), idle_us, waiting_us);
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

Json RunView::stages(bool of_all_times) const {
    const std::lock_guard lock(mutex_);
    const LiveTimes& times = of_all_times ? times_.whole() : times_.recent();
    const double elapsed_us = of_all_times ? times_.whole_stages_us() : times.elapsed_us;
    Json all = Json::array();
    for (const LiveTimes::StageTime& stage : times.stages) {
        all.push_back(Json{{"threads", stage.threads},
                           {"work", share(stage.work_us, elapsed_us, stage.threads)},
                           {"pull", share(stage.pull_us, elapsed_us, stage.threads)},
                           {"push", share(stage.push_us, elapsed_us, stage.threads)}});
    }
    return all;
}

std::string RunView::graph_svg(bool of_all_times) const {
    const std::lock_guard lock(mutex_);
    const RunReport report = (of_all_times ? times_.whole() : times_.recent()).report();
    return to_svg(receivers_.graph(), {.schedule = schedule_ ? &*schedule_ : nullptr,
                                       .report = report.elapsed_s > 0 ? &report : nullptr});
}

}  // namespace tidemill::cli
