#include "tidemill/dvbs2/ber/ber_full.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include "tidemill/dvbs2/ber/test_bbframe.hpp"
#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr int kSamplesPerSymbol = 2;

ChannelConfig channel_for(const BerPoint& point, std::uint64_t burst) {
    const FullSync& limits = *point.full_sync;
    std::seed_seq seeds{point.seed, point.seed >> 32, burst, burst >> 32};
    std::mt19937_64 random(seeds);
    const auto within = [&](double low, double high) {
        return low + (high - low) * 0x1p-53 * static_cast<double>(random() >> 11);
    };
    const auto either_side = [&](double limit) { return within(-limit, limit); };
    ChannelConfig channel;
    channel.samples_per_symbol = kSamplesPerSymbol;
    channel.esn0_db = point.esn0_db;
    channel.frequency_cycles_per_symbol = either_side(limits.frequency_cycles_per_symbol);
    channel.drift_cycles_per_symbol2 = either_side(limits.drift_cycles_per_symbol2);
    channel.clock_offset_ppm = either_side(limits.clock_offset_ppm);
    channel.phase_noise_deg = limits.phase_noise_deg;
    channel.echoes = limits.echoes;
    channel.phase_rad = either_side(std::numbers::pi);
    channel.delay_symbols = within(0, 1);
    channel.seed = random();
    return channel;
}

/// A burst of known frames as it arrives, made while it is read.
class BurstSource final : public io::SampleSource {
  public:
    BurstSource(const BerPoint& point, std::uint64_t burst, std::uint64_t skipped_symbols)
        : point_(point),
          next_frame_(burst * point.full_sync->frames_per_burst),
          end_frame_(next_frame_ + point.full_sync->frames_per_burst),
          skipped_symbols_(skipped_symbols),
          modulator_(point.pls, point.full_sync->gold_code),
          shaper_(kSamplesPerSymbol, point.full_sync->rolloff),
          channel_(channel_for(point, burst)),
          bbframe_(modulator_.bbframe_bytes()),
          symbols_(modulator_.plframe_symbols()) {}

    dsp::SampleFormat format() const override { return dsp::SampleFormat::cf32; }
    std::optional<double> sample_rate_hz() const override { return kSamplesPerSymbol; }

    std::size_t read(std::span<std::byte> to) override {
        while (taken_ == samples_.size() && !ended_) make_more();
        const std::size_t count = std::min(to.size() / sizeof(dsp::Iq), samples_.size() - taken_);
        std::memcpy(to.data(), samples_.data() + taken_, count * sizeof(dsp::Iq));
        taken_ += count;
        return count * sizeof(dsp::Iq);
    }

  private:
    void make_more() {
        samples_.clear();
        taken_ = 0;
        if (next_frame_ < end_frame_) {
            make_test_bbframe(point_.seed, next_frame_++, bbframe_);
            modulator_.modulate(bbframe_, symbols_);
            const auto cut = static_cast<std::size_t>(
                std::min<std::uint64_t>(std::exchange(skipped_symbols_, 0), symbols_.size()));
            channel_.process(shaper_.process(std::span(symbols_).subspan(cut)), samples_);
        } else {
            channel_.process(shaper_.finish(), samples_);
            channel_.finish(samples_);
            ended_ = true;
        }
    }

    const BerPoint& point_;
    std::uint64_t next_frame_;
    std::uint64_t end_frame_;
    std::uint64_t skipped_symbols_;
    FrameModulator modulator_;
    PulseShaper shaper_;
    Channel channel_;
    std::vector<std::uint8_t> bbframe_;
    std::vector<dsp::Iq> symbols_;
    std::vector<dsp::Iq> samples_;
    std::size_t taken_ = 0;
    bool ended_ = false;
};

/// Finds out which of the frames sent each received one is. A good frame carries its number; from there on,
/// the place of a bad one gives the number it would have had.
class BurstMonitor {
  public:
    BurstMonitor(const BerPoint& point, std::uint64_t burst)
        : point_(point),
          first_(burst * point.full_sync->frames_per_burst),
          frame_symbols_(layout_of(point.pls).symbols),
          right_(point.full_sync->frames_per_burst),
          seen_(point.full_sync->frames_per_burst) {
        counts_.frames = point.full_sync->frames_per_burst;
    }

    void take(const ReceivedFrame& frame) {
        if (frame.good) first_start_ = start_of_first(frame);
        const std::optional<std::uint64_t> index = index_of(frame);
        if (!index || seen_[*index]) {
            counts_.undetected += frame.good;
            return;
        }
        seen_[*index] = true;
        compare(frame, *index);
    }

    BerCounts counts() const {
        BerCounts counts = counts_;
        counts.frame_errors = counts.frames - static_cast<std::uint64_t>(std::ranges::count(right_, true));
        counts.frames_lost = counts.frames - static_cast<std::uint64_t>(std::ranges::count(seen_, true));
        return counts;
    }

  private:
    double start_of_first(const ReceivedFrame& frame) const {
        const auto index = static_cast<double>(number_of_test_bbframe(frame.bbframe) - first_);
        return static_cast<double>(frame.info.start) - index * frame_symbols_;
    }

    std::optional<std::uint64_t> index_of(const ReceivedFrame& frame) const {
        if (!first_start_ || frame.info.pls != point_.pls) return {};
        const double index =
            std::round((static_cast<double>(frame.info.start) - *first_start_) / frame_symbols_);
        if (!(index >= 0 && index < static_cast<double>(seen_.size()))) return {};
        return static_cast<std::uint64_t>(index);
    }

    void compare(const ReceivedFrame& frame, std::uint64_t index) {
        sent_.resize(frame.bbframe.size());
        make_test_bbframe(point_.seed, first_ + index, sent_);
        const std::uint64_t wrong = differing_bits(sent_, frame.bbframe);
        counts_.bits += 8 * sent_.size();
        counts_.bit_errors += wrong;
        counts_.undetected += frame.good && wrong > 0;
        counts_.ldpc_iterations += static_cast<std::uint64_t>(frame.ldpc_iterations);
        right_[index] = frame.good && wrong == 0;
    }

    const BerPoint& point_;
    std::uint64_t first_;
    double frame_symbols_;
    std::vector<bool> right_;
    std::vector<bool> seen_;
    std::optional<double> first_start_;  // place of the burst's first frame in the stream
    std::vector<std::uint8_t> sent_;
    BerCounts counts_;
};

}  // namespace

BurstResult receive_burst(const BerPoint& point, std::uint64_t burst, std::uint64_t skipped_symbols) {
    assert(point.full_sync);
    BurstSource source(point, burst, skipped_symbols);
    BurstMonitor monitor(point, burst);
    BurstResult result;
    const Receiver* running = nullptr;
    const auto take = [&](const ReceivedFrame& frame) {
        if (frame.good && result.samples_to_lock == 0) result.samples_to_lock = running->report().samples;
        monitor.take(frame);
    };
    const ReceiverConfig config{.rolloff = point.full_sync->rolloff, .gold_code = point.full_sync->gold_code};
    Receiver receiver(source, config, RxOutputs{.streams = {.packets = [](auto, auto) {}}, .frames = take});
    running = &receiver;
    Sequence(receiver.graph()).run({.statistics = false});
    result.counts = monitor.counts();
    return result;
}

}  // namespace tidemill::dvbs2
