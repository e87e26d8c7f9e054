#include "tidemill/apps/reception/rx_status.hpp"

#include <utility>

#include "tidemill/apps/reception/rx_fields.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/machine/start_thread.hpp"

namespace tidemill::cli {

RxView RxStatus::view(double now_s, const dvbs2::FrameTotals& since, double since_s) const {
    RxView view{.now = now_(), .ts = seen_by(packets_), .time_s = samples_.time_s(now_s)};
    view.ring = seen_by(samples_.ring(), view.now.totals.missing);
    // A receiver that gets nothing sees nothing, not even that its lock is gone.
    if (view.stands_still()) view.now.locked = view.now.found = false;
    const dvbs2::FrameTotals& totals = view.now.totals;
    const double elapsed_s = now_s - since_s;
    view.frame_s = !samples_.ring() && totals.frames > 0 ? totals.end_s : view.time_s;
    view.pls = totals.last_pls;
    view.esn0_db = totals.last_esn0_db;
    view.info_mbps =
        elapsed_s > 0 ? static_cast<double>(totals.info_bits - since.info_bits) / elapsed_s / 1e6 : 0;
    view.frames = totals.frames - since.frames;
    view.frames_bad = totals.frames_bad - since.frames_bad;
    view.ldpc_iterations = totals.ldpc_iterations - since.ldpc_iterations;
    view.corrected_bits = totals.corrected_bits - since.corrected_bits;
    return view;
}

Json RxStatus::next(double now_s) {
    return status_json(next_view(now_s));
}

RxView RxStatus::next_view(double now_s) {
    RxView view = this->view(now_s, last_, last_s_);
    last_ = view.now.totals;
    last_s_ = now_s;
    return view;
}

Json RxStatus::since_start(double now_s) const {
    return status_json(view(now_s, {}, 0));
}

Every::Every(std::chrono::milliseconds period, std::function<void(double)> act)
    : period_(period),
      act_(std::move(act)),
      thread_(start_thread([this](const std::stop_token& done) { run(done); })) {}

Every::~Every() {
    thread_.request_stop();
    thread_.join();
}

void Every::run(const std::stop_token& done) {
    std::unique_lock lock(mutex_);
    for (auto next = start_ + period_; !done.stop_requested(); next += period_) {
        if (!wake_.wait_until(lock, done, next, [] { return false; }) && !done.stop_requested())
            act_(elapsed_s());
    }
    act_(elapsed_s());
}

}  // namespace tidemill::cli
