#include "tidemill/dvbs2/receiver/rx_sink.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/platform/tick_clock.hpp"

namespace tidemill::dvbs2 {

double FrameTotals::esn0_db() const {
    const std::uint64_t good = frames - frames_bad;
    return good == 0 ? 0 : -10 * std::log10(noise_to_signal / static_cast<double>(good));
}

double FrameTotals::info_mbps() const {
    const double us = to_ns(last_tick - first_tick) / 1000;
    return us > 0 ? static_cast<double>(info_bits - first_bits) / us : 0;
}

Pls FrameTotals::usual_pls() const {
    const auto most = std::max_element(frames_of_pls.begin(), frames_of_pls.end());
    return Pls::from_code(static_cast<int>(most - frames_of_pls.begin()));
}

RxSink::RxSink(RxOutputs outputs)
    : Module("sink"),
      frames_(std::move(outputs.frames)),
      streams_(outputs.choice, std::move(outputs.streams)) {}

void RxSink::write_frame(Frame f) {
    const Pls& pls = f[info][0].pls;
    const fec::Dvbs2Code* code = code_of(pls);
    if (!code) return;
    ++totals_.frames;
    ++totals_.frames_of_pls[static_cast<std::size_t>(pls.code())];
    const auto bbframe = f[codeword].first(static_cast<std::size_t>(code->k_bch) / 8);
    if (frames_) frames_({f[info][0], f[quality][0], f[ldpc][0], bbframe, f[bch][0].ok});
    if (f[gap][0]) streams_.lose();
    if (f[bch][0].ok) {
        streams_.push(bbframe);
        account(f, *code);
    } else {
        ++totals_.frames_bad;
        streams_.lose();
    }
    show(pls);
}

// Counters are stored, never added to: this thread is their only writer.
void RxSink::show(const Pls& pls) {
    const auto store = [](auto& to, auto value) { to.store(value, std::memory_order_relaxed); };
    const auto code = static_cast<std::size_t>(pls.code());
    store(live_.frames, totals_.frames);
    store(live_.frames_bad, totals_.frames_bad);
    store(live_.info_bits, totals_.info_bits);
    store(live_.ldpc_iterations, totals_.ldpc_iterations);
    store(live_.corrected_bits, totals_.corrected_bits);
    store(live_.frames_of_pls[code], totals_.frames_of_pls[code]);
    store(live_.pls_code, pls.code());
    store(live_.frequency, totals_.inverted ? -totals_.frequency : totals_.frequency);
}

void RxSink::account(Frame f, const fec::Dvbs2Code& code) {
    const FrameInfo& about = f[info][0];
    const auto bits = static_cast<std::uint64_t>(code.k_bch) - 8 * kBbHeaderBytes;
    totals_.last_tick = ticks();
    if (totals_.info_bits == 0) {
        totals_.first_tick = totals_.last_tick;
        totals_.first_bits = bits;
        totals_.symbols_before = about.start;
    }
    totals_.info_bits += bits;
    totals_.ldpc_iterations += static_cast<std::uint64_t>(f[ldpc][0].iterations);
    totals_.corrected_bits += static_cast<std::uint64_t>(f[bch][0].corrected);
    const float esn0_db = f[quality][0].esn0_db();
    totals_.noise_to_signal += std::pow(10.0, -0.1 * esn0_db);
    totals_.frequency = about.frequency;
    totals_.inverted = about.inverted;
    live_.esn0_db.store(esn0_db, std::memory_order_relaxed);
}

void RxSink::finish() {
    streams_.finish();
}

}  // namespace tidemill::dvbs2
