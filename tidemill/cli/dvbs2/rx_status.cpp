#include "tidemill/cli/dvbs2/rx_status.hpp"

#include <utility>

#include "tidemill/cli/dvbs2/rx_fields.hpp"
#include "tidemill/json/json.hpp"
#include "tidemill/platform/start_thread.hpp"

namespace tidemill::cli {

std::string RxStatus::line(double now_s) {
    RxView view{.now = receiver_.now(), .ts = seen_by(packets_), .time_s = now_s};
    const dvbs2::FrameTotals& totals = view.now.totals;
    const double elapsed_s = now_s - last_s_;
    view.pls = totals.last_pls;
    view.esn0_db = totals.last_esn0_db;
    view.info_mbps =
        elapsed_s > 0 ? static_cast<double>(totals.info_bits - last_.info_bits) / elapsed_s / 1e6 : 0;
    view.frames = totals.frames - last_.frames;
    view.frames_bad = totals.frames_bad - last_.frames_bad;
    view.ldpc_iterations = totals.ldpc_iterations - last_.ldpc_iterations;
    view.corrected_bits = totals.corrected_bits - last_.corrected_bits;
    last_ = totals;
    last_s_ = now_s;
    return to_text(status_json(view));
}

EverySecond::EverySecond(std::function<void(double)> act)
    : act_(std::move(act)), thread_(start_thread([this](const std::stop_token& done) { run(done); })) {}

EverySecond::~EverySecond() {
    thread_.request_stop();
    thread_.join();
}

void EverySecond::run(const std::stop_token& done) {
    using namespace std::chrono_literals;
    const auto elapsed_s = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    };
    std::unique_lock lock(mutex_);
    for (auto next = start_ + 1s; !done.stop_requested(); next += 1s) {
        if (!wake_.wait_until(lock, done, next, [] { return false; }) && !done.stop_requested())
            act_(elapsed_s());
    }
    act_(elapsed_s());
}

}  // namespace tidemill::cli
