#include "tidemill/dvbs2/receiver/retuned_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tidemill/dsp/power_spectrum.hpp"
#include "tidemill/dvbs2/receiver/carrier_survey.hpp"
#include "tidemill/dvbs2/receiver/receiver_front.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"
#include "tidemill/dvbs2/search/internal/source_pieces.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/dvbs2/tuner/read_all.hpp"
#include "tidemill/io/live/quantize.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kStepSeconds = 0.15;
constexpr std::uint64_t kLeastStep = 1 << 18;
// A window holds a lock and several of the longest frames; after some failures it is twice as long, up to a
// limit of memory.
constexpr double kWindowSeconds = 0.5, kLeastWindowSymbols = 250e3;
constexpr std::size_t kMostWindowBytes = 64 << 20;
constexpr int kFailuresInARow = 4;
// A change shows in the second piece after it.
constexpr std::uint64_t kBackSteps = 3;
// Changes that were none for the receiver may take a window in so many, and some in a row.
constexpr std::uint64_t kRestWindows = 2, kLooksInARow = 4;
// While nothing is received, and nothing changes.
constexpr std::uint64_t kIdleWindows = 16;
// A carrier that was not there before has so much more power per hertz now.
constexpr double kAppears = 1.5;
constexpr std::pair<double, double> kThirds[] = {{-0.4, -0.15}, {-0.12, 0.12}, {0.15, 0.4}};
constexpr std::size_t kMostHeard = 4;
// A change in that part of a window is the one for which it was begun.
constexpr std::uint64_t kBeginning = 8;

std::uint64_t step_of(double rate_hz) {
    return std::max(kLeastStep, static_cast<std::uint64_t>(kStepSeconds * rate_hz));
}

BandWatch::Power power_of(io::SampleSource& source) {
    dsp::PowerSpectrum spectrum(BandWatch::kBins);
    internal::read_pieces(source, [&](std::span<dsp::Iq> piece) {
        spectrum.add(piece);
        return true;
    });
    BandWatch::Power power{};
    const std::vector<float> seen = spectrum.power();
    std::copy(seen.begin(), seen.end(), power.begin());
    return power;
}

// By how much the power of a carrier's band has risen, where it has most: the carrier before may have reached
// into the rest.
double rise_of(const FoundCarrier& carrier, const BandWatch::Power& before, const BandWatch::Power& now,
               double rate_hz) {
    const auto bin_of = [&](double part) {
        const double hz = carrier.offset_hz + part * carrier.symbol_rate_hz;
        const double bin = (hz / rate_hz + 0.5) * BandWatch::kBins;
        return static_cast<std::size_t>(std::clamp(bin, 0.0, BandWatch::kBins - 1.0));
    };
    double most = 0;
    for (const auto& [from, to] : kThirds) {
        double old_power = 1e-30, power = 0;
        for (std::size_t k = bin_of(from); k <= bin_of(to); ++k) old_power += before[k], power += now[k];
        most = std::max(most, power / old_power);
    }
    return most;
}

}  // namespace

/// Source of a tuner: samples from before the change, then those that come.
class RetunedSource::Feed final : public io::SampleSource {
  public:
    Feed(RetunedSource& owner, std::vector<std::byte> again) : owner_(owner), again_(std::move(again)) {}

    dsp::SampleFormat format() const override { return owner_.source_->format(); }
    std::optional<double> sample_rate_hz() const override { return owner_.band_rate_hz_; }
    std::size_t read(std::span<std::byte> to) override {
        if (given_ == again_.size()) return owner_.take(to);
        const std::size_t count =
            std::min(to.size() / owner_.sample_bytes_ * owner_.sample_bytes_, again_.size() - given_);
        std::copy_n(again_.begin() + static_cast<std::ptrdiff_t>(given_), count, to.begin());
        given_ += count;
        if (given_ == again_.size()) {
            again_ = {};
            given_ = 0;
        }
        return count;
    }

  private:
    RetunedSource& owner_;
    std::vector<std::byte> again_;
    std::size_t given_ = 0;
};

RetunedSource::RetunedSource(std::unique_ptr<io::SampleSource> source, const std::optional<Tuning>& tuning,
                             const ReceiverConfig& config, OpenAt open_at)
    : source_(std::move(source)),
      open_at_(std::move(open_at)),
      tuning_(tuning),
      config_(config),
      band_rate_hz_(source_->sample_rate_hz().value()),
      sample_bytes_(dsp::bytes_per_sample(source_->format())),
      step_(step_of(band_rate_hz_)),
      first_hz_(now_hz()),
      format_(source_->format()),
      rate_hz_(band_rate_hz_),
      controls_(source_->controls()) {
    const double window_s = std::max(kWindowSeconds, kLeastWindowSymbols / config.symbol_rate_hz);
    least_window_bytes_ =
        std::min(kMostWindowBytes / sample_bytes_, static_cast<std::size_t>(window_s * band_rate_hz_)) *
        sample_bytes_;
    window_bytes_ = least_window_bytes_;
    samples_per_symbol_ = band_rate_hz_ / config.symbol_rate_hz;
    if (!tuning_) return;
    tuned_ = std::make_unique<TunedSource>(std::make_unique<Feed>(*this, std::vector<std::byte>{}), *tuning_);
    format_ = tuned_->format();
    rate_hz_ = *tuned_->sample_rate_hz();
    samples_per_symbol_ = rate_hz_ / config.symbol_rate_hz;
    controls_.push_back(tuned_->controls().back());
}

RetunedSource::~RetunedSource() = default;

void RetunedSource::control(std::size_t index, double value) {
    if (index < source_->controls().size())
        source_->control(index, value);
    else
        tuned_->control(0, value);
}

double RetunedSource::seconds_at(double sample) const {
    const std::scoped_lock lock(mutex_);
    const auto later = std::ranges::find_if(
        moves_, [&](const Move& move) { return static_cast<double>(move.first) > sample; });
    if (later == moves_.begin()) return sample / rate_hz_;
    const Move& last = *std::prev(later);
    return last.at_s + (sample - static_cast<double>(last.first)) / last.to.rate_hz;
}

io::BandMove RetunedSource::moved() const {
    const std::scoped_lock lock(mutex_);
    if (!tuned_) return {};
    return {.hz = now_hz() - first_hz_ + tuned_->moved().hz,
            .rate = samples_per_symbol_ * now_symbol_rate_hz() / rate_hz_,
            .at_s = moves_.empty() ? 0 : moves_.back().at_s};
}

std::size_t RetunedSource::read(std::span<std::byte> to) {
    if (window_is_full()) search();
    std::size_t count = give(to);
    // The last transmission may be shorter than a window, and another may lie in front of it.
    while (count == 0 && collects_ && !window_.empty())
        if (search()) count = give(to);
    given_ += count / dsp::bytes_per_sample(format_);
    return count;
}

std::size_t RetunedSource::give(std::span<std::byte> to) {
    if (!tuned_)
        return take(to.first(std::min(to.size(), collects_ ? window_bytes_ - window_.size() : to.size())));
    if (format_ == tuned_->format()) return tuned_->read(to);
    tuned_samples_.resize(to.size() / sample_bytes_);
    const std::size_t count =
        tuned_->read(std::as_writable_bytes(std::span(tuned_samples_))) / sizeof(dsp::Iq);
    io::quantize(std::span(tuned_samples_).first(count), gain_, format_, to.first(count * sample_bytes_));
    return count * sample_bytes_;
}

std::size_t RetunedSource::take(std::span<std::byte> to) {
    const std::size_t count = source_->read(to);
    observe(to.first(count));
    return count;
}

void RetunedSource::observe(std::span<const std::byte> bytes) {
    std::span<const std::byte> left = bytes;
    while (!left.empty()) {
        // Pieces begin at whole multiples of a step.
        const std::uint64_t in_step = samples_ % step_;
        const bool is_piece = in_step < BandWatch::kPieceSamples;
        const std::uint64_t until = is_piece ? BandWatch::kPieceSamples : step_;
        const std::size_t count = std::min<std::uint64_t>(left.size() / sample_bytes_, until - in_step);
        const auto some = left.first(count * sample_bytes_);
        if (collects_) window_.insert(window_.end(), some.begin(), some.end());
        samples_ += count;
        if (is_piece) watch(some);
        left = left.subspan(some.size());
    }
}

void RetunedSource::watch(std::span<const std::byte> bytes) {
    piece_.insert(piece_.end(), bytes.begin(), bytes.end());
    if (piece_.size() < BandWatch::kPieceSamples * sample_bytes_) return;
    std::array<dsp::Iq, BandWatch::kPieceSamples> samples;
    dsp::convert_samples(source_->format(), piece_, samples);
    piece_.clear();
    watch_.add(samples);
    if (collects_) return;
    const bool is_due = failures_ > 0 && samples_ >= next_look_;
    const std::uint64_t in_a_row = kLooksInARow * kRestWindows * window_bytes_ / sample_bytes_;
    const bool is_free = failures_ > 0 || samples_ + in_a_row >= rested_;
    if (is_due || (is_free && watch_.has_changed())) begin_window_before();
}

void RetunedSource::begin_window(std::vector<std::byte> first) {
    if (failures_ == 0 || watch_.has_changed()) before_ = watch_.usual();
    collects_ = true;
    window_ = std::move(first);
    window_.reserve(window_bytes_);
    window_before_ = 0;
}

// From before the change on, where it can be read again.
void RetunedSource::begin_window_before() {
    begin_window({});
    if (!open_at_) return;
    const std::uint64_t back = std::min(samples_ - searched_, kBackSteps * step_);
    window_.resize(
        std::min<std::uint64_t>(back * sample_bytes_, window_bytes_ / 2 / sample_bytes_ * sample_bytes_));
    const auto again = open_at_(samples_ - window_.size() / sample_bytes_);
    window_.resize(read_all(*again, window_));
    window_before_ = window_.size();
}

// Returns whether the carrier was found elsewhere. What was not found is looked for in windows that follow,
// and then once in a while; behind a further change within the window at once.
bool RetunedSource::search() {
    collects_ = false;
    watch_.settle();
    const std::uint64_t window = window_.size() / sample_bytes_;
    searched_ = samples_;
    const bool hears = hears_frames(std::span(window_).subspan(window_before_));
    const std::optional<Found> found = hears ? std::nullopt : found_elsewhere();
    const std::optional<Rest> rest = found   ? std::optional(found->rest)
                                     : hears ? std::optional(rest_behind_change())
                                             : std::nullopt;
    const std::uint64_t tail_first = rest ? rest->first : window - window / 2;
    std::vector<std::byte> tail(window_.begin() + static_cast<std::ptrdiff_t>(tail_first * sample_bytes_),
                                window_.end());
    if (found) {
        window_.erase(window_.begin(),
                      window_.begin() + static_cast<std::ptrdiff_t>(found->first * sample_bytes_));
        retune(found->at);
    }
    window_ = {};
    failures_ = hears || found ? 0 : failures_ + 1;
    if (hears) rested_ = std::max(rested_, samples_) + kRestWindows * window;
    next_look_ = samples_ + kIdleWindows * window;
    const int doublings = std::clamp(failures_ - kFailuresInARow / 2, 0, kFailuresInARow);
    window_bytes_ = std::min(kMostWindowBytes, least_window_bytes_ << doublings);
    window_bytes_ -= window_bytes_ % sample_bytes_;
    if (rest ? !tail.empty() : failures_ > 0 && failures_ < kFailuresInARow) begin_window(std::move(tail));
    if (rest) watch_.settle(before_ = rest->before);
    return found.has_value();
}

void RetunedSource::retune(const Tuning& tuning) {
    Move move{static_cast<double>(samples_ - window_.size() / sample_bytes_) / band_rate_hz_, tuning, given_};
    move.to.rate_hz = samples_per_symbol_ * tuning.symbol_rate_hz;
    if (format_ != dsp::SampleFormat::cf32) gain_ = gain_of_window(move.to);
    auto tuned = std::make_unique<TunedSource>(std::make_unique<Feed>(*this, std::move(window_)), move.to);
    const std::scoped_lock lock(mutex_);
    tuning_ = move.to;
    tuned_ = std::move(tuned);
    moves_.push_back(std::move(move));
}

// 14 dB of room above the root mean square.
float RetunedSource::gain_of_window(const Tuning& tuning) const {
    TunedSource source(open(window_), tuning);
    double power = 0;
    std::size_t count = 0;
    internal::read_pieces(source, [&](std::span<dsp::Iq> piece) {
        for (const dsp::Iq& sample : piece) power += std::norm(sample);
        count += piece.size();
        return true;
    });
    return power > 0 ? static_cast<float>(0.2 / std::sqrt(power / static_cast<double>(count))) : 1;
}

std::unique_ptr<io::SampleSource> RetunedSource::open(std::span<const std::byte> part) const {
    return std::make_unique<io::MemoryReader>(part, source_->format(), band_rate_hz_);
}

// Looks for frames in a part of the samples, where the receiver listens.
bool RetunedSource::hears_frames(std::span<const std::byte> part) const {
    std::unique_ptr<io::SampleSource> source = open(part);
    if (tuning_) source = std::make_unique<TunedSource>(std::move(source), *tuning_);
    const PlScrambler scrambler(config_.gold_code);
    Graph graph;
    const ReceiverFront front = add_front(
        graph, *source, {*source->sample_rate_hz(), now_symbol_rate_hz(), config_.rolloff, kMaxBlockSamples});
    auto& frame_sync = graph.add<RxFrameSync>(scrambler, false);
    graph.bind(front.timing.symbols, frame_sync.symbols);
    const auto heard = [&] { return frame_sync.counts().frames > 0; };
    Sequence(graph).run({.stop_when = heard, .statistics = false});
    return heard();
}

ReadAt RetunedSource::reads_window() const {
    return [this](std::uint64_t first, std::span<dsp::Iq> to) {
        const std::size_t count = std::min<std::size_t>(to.size(), window_.size() / sample_bytes_ - first);
        dsp::convert_samples(source_->format(), bytes_of({first, count}), to.first(count));
        return count;
    };
}

std::span<const std::byte> RetunedSource::bytes_of(const SampleStretch& part) const {
    return std::span(window_).subspan(part.first * sample_bytes_, part.count * sample_bytes_);
}

// In a window of which frames are heard, they may be those of before its latest change.
RetunedSource::Rest RetunedSource::rest_behind_change() const {
    const std::uint64_t all = window_.size() / sample_bytes_;
    std::vector<SampleStretch> parts = steady_stretches(all, reads_window());
    if (parts.empty()) return {all, power_of(*open(window_))};
    std::ranges::sort(parts, {}, &SampleStretch::first);
    const SampleStretch last = parts.back();
    if (last.first < all / kBeginning) return {all, power_of(*open(bytes_of(last)))};
    parts.pop_back();
    // A change may have been noticed a second time, behind it.
    BandWatch::Power before = power_of(*open(bytes_of(parts.front())));
    for (const SampleStretch& part : parts) {
        if (part.count < all / kBeginning) continue;
        const BandWatch::Power power = power_of(*open(bytes_of(part)));
        for (std::size_t k = 0; k < before.size(); ++k) before[k] = std::min(before[k], power[k]);
    }
    return {last.first, before};
}

// The frames of what was received before are not given out a second time: part of its band may be within
// reach.
std::optional<RetunedSource::Found> RetunedSource::found_elsewhere() const {
    const std::size_t all = window_.size() / sample_bytes_;
    const std::vector<SampleStretch> parts = steady_stretches(all, reads_window());
    for (const SampleStretch& part : parts) {
        const auto bytes = bytes_of(part);
        const std::optional<Tuning> found = found_in(bytes);
        if (!found) continue;
        std::uint64_t next = all;
        for (const SampleStretch& other : parts)
            if (other.first > part.first) next = std::min(next, other.first);
        return Found{*found, place_of_change(part, reads_window()), {next, power_of(*open(bytes))}};
    }
    return std::nullopt;
}

// The nearest carrier of DVB-S2 that was not there before, or lies where the receiver listens.
std::optional<Tuning> RetunedSource::found_in(std::span<const std::byte> part) const {
    const BandWatch::Power now = power_of(*open(part));
    std::vector<FoundCarrier> carriers = find_carriers(*open(part)).carriers;
    const double reach_hz = now_symbol_rate_hz() / 2;
    std::erase_if(carriers, [&](const FoundCarrier& one) {
        const bool has_appeared = rise_of(one, before_, now, band_rate_hz_) > kAppears;
        return !has_appeared && std::abs(one.offset_hz - now_hz()) > reach_hz;
    });
    std::ranges::sort(carriers, {},
                      [&](const FoundCarrier& one) { return std::abs(one.offset_hz - now_hz()); });
    carriers.resize(std::min(carriers.size(), kMostHeard));
    for (const FoundCarrier& one : carriers) {
        const SurveyedCarrier heard = survey([&] { return open(part); }, one, SurveyDepth::frames);
        const bool is_other_code = config_.gold_code != 0 && heard.kind == CarrierKind::dvbs2_weak;
        if (heard.kind != CarrierKind::dvbs2 && !is_other_code) continue;
        // Packets are there of the part that the receiver hears itself.
        if (hears_frames(part)) return std::nullopt;
        return Tuning{.symbol_rate_hz = heard.symbol_rate_hz,
                      .rolloff = heard.rolloff,
                      .offset_hz = heard.offset_hz,
                      .neighbour_hz = one.neighbour_hz};
    }
    return std::nullopt;
}

}  // namespace tidemill::dvbs2
