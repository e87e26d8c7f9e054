#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "tidemill/apps/reception/counted_source.hpp"
#include "tidemill/apps/reception/rx_fields.hpp"
#include "tidemill/dvbs2/receiver/reception_report.hpp"
#include "tidemill/io/transport/ts_monitor.hpp"

namespace tidemill::cli {

/// State of a running receiver, each second one line of JSON: time_s (the position in a recording; of a live
/// input since the start), phase, lock, and of the last frame modcod, frame, pilots, esn0_db and margin_db
/// (over table 13's threshold); offset_hz, clock_ppm, iq_offset_db, iq_image_db; frames, frames_bad,
/// info_mbps, ldpc_iterations (mean) and bch_corrected_bits since the line before; modcods (all frames so
/// far); ts_packets, programmes, continuity_errors, samples_clipped so far; of a live input overflows and
/// samples_missing so far, waiting_s (samples in the ring before the receiver) and least_room_s (the least
/// that was left in it). What nothing is known of is null.
class RxStatus {
  public:
    /// `now` may be called by any thread.
    RxStatus(std::function<dvbs2::ReceptionNow()> now, const io::TsMonitor& packets,
             const CountedSource& samples)
        : now_(std::move(now)), packets_(packets), samples_(samples) {}

    /// State as JSON at a time.
    Json next(double now_s);
    RxView next_view(double now_s);
    /// The same with frames counted since the start; changes nothing.
    Json since_start(double now_s) const;
    /// View of which both are made.
    RxView view_at(double now_s) const { return view(now_s, {}, 0); }

  private:
    RxView view(double now_s, const dvbs2::FrameTotals& since, double since_s) const;

    std::function<dvbs2::ReceptionNow()> now_;
    const io::TsMonitor& packets_;
    const CountedSource& samples_;
    dvbs2::FrameTotals last_{};
    double last_s_ = 0;
};

/// Calls a function once in each period on a thread of its own, and a last time in the end.
class Every {
  public:
    Every(std::chrono::milliseconds period, std::function<void(double elapsed_s)> act);
    ~Every();

    /// Since it began.
    double elapsed_s() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    void run(const std::stop_token& done);

    std::chrono::milliseconds period_;
    std::function<void(double)> act_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;
};

}  // namespace tidemill::cli
