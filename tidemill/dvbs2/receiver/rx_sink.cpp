#include "tidemill/dvbs2/receiver/rx_sink.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tidemill/dvbs2/receiver/rx_equaliser.hpp"
#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/machine/tick_clock.hpp"

namespace tidemill::dvbs2 {

RxSink::RxSink(RxOutputs outputs, const SampleRates& rates, std::function<double(double)> seconds_at)
    : Module("sink"),
      may_wait_(outputs.may_wait),
      frames_(std::move(outputs.frames)),
      keep_outputs_(std::move(outputs.keep)),
      seconds_at_(seconds_at ? std::move(seconds_at)
                             : [rate_hz = rates.symbol_rate_hz](double place) { return place / rate_hz; }),
      missing_(rates),
      streams_(outputs.choice, watched(std::move(outputs.streams))) {}

StreamOutputs RxSink::watched(StreamOutputs outputs) {
    outputs.packets = [this, given = std::move(outputs.packets)](auto packets, std::uint8_t stream) {
        missing_.read_clocks(packets, stream);
        given(packets, stream);
    };
    outputs.input_clock = [this, given = std::move(outputs.input_clock)](std::uint32_t symbols,
                                                                         std::uint8_t stream) {
        missing_.read_counter(symbols, stream);
        if (given) given(symbols, stream);
    };
    return outputs;
}

void RxSink::write_frame(Frame f) {
    if (f.at_end()) return finish();
    missing_.begin_frame(f[info]);
    totals_.missing = missing_.tally();
    const Pls& pls = f[info].pls;
    const fec::Dvbs2Code* code = code_of(pls);
    if (!code) return;
    if (f[gap][0] != 0 || f[info].missing.count > 0) suspected_weak_ = 0;  // it was cut
    count_weak();
    ++totals_.frames;
    ++totals_.frames_of_pls[static_cast<std::size_t>(pls.code())];
    const auto bbframe = f[codeword].first(static_cast<std::size_t>(code->k_bch) / 8);
    const double from_s = seconds_at_(f[info].place);
    totals_.end_s = seconds_at_(f[info].place + f[info].symbols);
    if (frames_)
        frames_({f[info], f[quality][0].esn0_db(), f[ldpc][0].iterations, bbframe, f[bch][0].ok,
                 f[gap][0] != 0, from_s, totals_.end_s - from_s});
    if (f[gap][0]) streams_.lose();
    if (f[bch][0].ok) {
        streams_.push(bbframe);
        account(f, *code);
    } else {
        account_bad(f);
        streams_.lose();
    }
    totals_.last_pls = pls;
    totals_.last_esn0_db = f[quality][0].esn0_db();
    totals_.missing = missing_.tally();
    published_.offer(totals_);
}

// Ticks are this machine's, since it was started.
void RxSink::keep(Archive& archive) {
    std::uint64_t lasted = totals_.last_tick - totals_.first_tick;
    archive("streams", streams_)("missing", missing_)("drift", drift_)("totals", totals_)("lasted", lasted);
    archive("suspected_weak", suspected_weak_)("suspected_esn0_db", suspected_esn0_db_);
    if (keep_outputs_) keep_outputs_(archive);
    if (!archive.gives_back()) return;
    totals_.last_tick = ticks();
    totals_.first_tick = totals_.last_tick - lasted;
    published_.set(totals_);
}

void RxSink::account(Frame f, const fec::Dvbs2Code& code) {
    const FrameInfo& about = f[info];
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
    totals_.noise_to_signal += std::pow(10.0, -0.1 * f[quality][0].esn0_db());
    totals_.front_frequency = about.front_frequency;
    totals_.frequency = carrier_frequency(about, f[taps][0]);
    totals_.drift = double{about.drift};
    drift_.take(totals_.drift, f[gap][0] != 0);
    totals_.largest_drift = drift_.largest();
    totals_.inverted = about.inverted;
}

void RxSink::account_bad(Frame f) {
    constexpr float kNear_db = 0.5F;  // short frames need so much more, and what is measured scatters
    ++totals_.frames_bad;
    const float esn0_db = f[quality][0].esn0_db();
    if (esn0_db > find_modcod(f[info].pls.modcod)->esn0_threshold_db + kNear_db) return;
    suspected_weak_ = 1;
    suspected_esn0_db_ = esn0_db;
}

// The frame before was bad, and weak as far as its noise shows: which a frame in which samples are missing
// looks, too.
void RxSink::count_weak() {
    if (std::exchange(suspected_weak_, 0) == 0) return;
    const bool is_first = totals_.frames_weak++ == 0;
    totals_.weakest_esn0_db =
        is_first ? suspected_esn0_db_ : std::min(totals_.weakest_esn0_db, suspected_esn0_db_);
}

// Gives out the packet that waits for the frame after the last.
void RxSink::finish() {
    streams_.finish();
    count_weak();
    totals_.missing = missing_.tally();
    published_.set(totals_);
}

}  // namespace tidemill::dvbs2
