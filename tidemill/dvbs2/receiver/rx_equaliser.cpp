#include "tidemill/dvbs2/receiver/rx_equaliser.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tidemill/dvbs2/carrier/header_bias.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::uint32_t kFirstFrames = 8;       // that are all looked at
constexpr std::uint32_t kSeldom = 16;           // one in so many, of those behind
constexpr std::uint32_t kFramesToDecision = 8;  // while it equalises

// A decibel is 0.26 of the noise: what wins less than a tenth of that is left alone, and so is what is weaker
// than our own filters' -33 dB.
constexpr double kWorthWhile = 0.03, kStillWorthWhile = 0.01;
constexpr double kWeakest = 5e-4;
constexpr double kSure = 3;  // times as much as noise alone looks like
constexpr double kDoubtful = 1.8, kDoubtfulEcho = 0.3;
constexpr double kEnoughSymbols = 250;  // to learn a channel anew
constexpr float kHeaderMemorySymbols = 200e3F;
constexpr double kLeastShareHeard = 0.01;  // of headers: fewer move a mean by nothing

// Share of the noise that an equaliser takes away, less what it adds by being learned from noisy symbols.
double gain_of(const ChannelEstimate& channel) {
    return (channel.interference - channel.noise * kChannelTaps / channel.symbols) / channel.noise;
}

bool is_worth_while(const ChannelEstimate& channel, bool on) {
    const double floor = kWeakest * std::norm(channel.main());
    if (on) return gain_of(channel) > kStillWorthWhile && channel.interference > 0.5 * floor;
    return channel.evidence > kSure && gain_of(channel) > kWorthWhile && channel.interference > floor;
}

// Echoes of our own filters show where there is no noise, and are no more than an eighth of the weakest.
bool is_doubtful(const ChannelEstimate& channel) {
    return channel.evidence > kDoubtful &&
           channel.interference > kDoubtfulEcho * kWeakest * std::norm(channel.main());
}

}  // namespace

void RxEqualiser::learn_echoes(Frame f) {
    const FrameInfo& about = f[info];
    if (f[gap][0] != 0) begin_anew();
    bool is_learned = is_due() && learner_.learn(f[frame], about);
    if (has_changed(about, is_learned)) {
        begin_anew();
        bias_before_ = taps_.on != 0 ? mean_header_bias() : 0;
        headers_before_ = std::accumulate(headers_.begin(), headers_.end(), headers_before_);
        headers_ = {};
        is_learned = learner_.learn(f[frame], about);
    }
    if (is_learned) {
        ++learned_;
        decide();
    }
    hear(about);
    give(f[frame], about, f[taps][0]);
}

void RxEqualiser::begin_anew() {
    learner_.forget();
    learned_ = 0;
    watch_ = {};
}

// Whether known symbols are less like what they should be than those of the frames before. A header that was
// not recognised, or that pulses have hit, counts for nothing.
bool RxEqualiser::has_changed(const FrameInfo& about, bool is_learned) {
    if (taps_.on != 0) return is_learned && watch_.has_risen(learner_.misfit());
    return about.header_quality > 0 && watch_.has_risen(1 - double{about.header_quality});
}

bool RxEqualiser::is_due() {
    if (taps_.on == 0 && !doubtful_ && learned_ >= kFirstFrames && ++passed_ < kSeldom) return false;
    passed_ = 0;
    return true;
}

void RxEqualiser::decide() {
    if (taps_.on != 0 && learned_ > kFirstFrames && learned_ % kFramesToDecision != 0) return;
    const ChannelEstimate channel = learner_.estimate();
    // An estimate from before a gap is better than one header's.
    if (channel.symbols == 0 || (taps_.on != 0 && channel.symbols < kEnoughSymbols)) return;
    doubtful_ = is_doubtful(channel);
    const auto was_on = taps_.on;
    taps_.on = is_worth_while(channel, taps_.on != 0) && make_equaliser(channel, taps_.taps) ? 1 : 0;
    if (taps_.on != was_on) watch_ = {};
    channel_ = channel;
    echo_ = taps_.on != 0 ? std::optional(strongest_echo(channel)) : std::nullopt;
    echo_now_.set(echo_);
}

// As long as headers are remembered where they alone show the frequency.
void RxEqualiser::hear(const FrameInfo& about) {
    const float left = std::exp(-static_cast<float>(about.symbols) / kHeaderMemorySymbols);
    for (float& weight : headers_) weight *= left;
    headers_before_ *= left;
    headers_[static_cast<std::size_t>(about.pls.code())] += 1;
}

// Each header of frames of several kinds feigns another frequency.
float RxEqualiser::mean_header_bias() const {
    const float all = std::accumulate(headers_.begin(), headers_.end(), headers_before_);
    double sum = headers_before_ / all * bias_before_;
    for (std::size_t code = 0; code < headers_.size(); ++code) {
        const double share = headers_[code] / all;
        if (share > kLeastShareHeard)
            sum += share * header_bias(channel_, Pls::from_code(static_cast<int>(code)));
    }
    return static_cast<float>(sum);
}

void RxEqualiser::give(std::span<const Iq> received, const FrameInfo& about, EqualiserTaps& to) {
    if (about.start != end_) taps_.before = {};
    to.on = taps_.on;
    if (taps_.on != 0) {
        to = taps_;
        if (layout_of(about.pls).pilot_blocks == 0) to.header_bias = mean_header_bias();
        frames_.fetch_add(1, std::memory_order_relaxed);
    }
    const auto symbols = static_cast<std::size_t>(about.symbols);
    dsp::copy_samples(received.subspan(symbols - kEqualiserBefore, kEqualiserBefore), taps_.before);
    end_ = about.start + symbols;
}

void RxEqualiser::keep(Archive& archive) {
    std::uint64_t frames = frames_.load(std::memory_order_relaxed);
    archive("learner", learner_)("taps", taps_)("channel", channel_)("headers", headers_)("end", end_)(
        "learned", learned_)("passed", passed_);
    archive("headers_before", headers_before_)("bias_before", bias_before_)("watch", watch_);
    archive("doubtful", doubtful_)("echo", echo_)("frames", frames);
    frames_.store(frames, std::memory_order_relaxed);
    echo_now_.set(echo_);
}

}  // namespace tidemill::dvbs2
