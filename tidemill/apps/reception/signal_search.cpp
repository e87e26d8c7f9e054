#include "tidemill/apps/reception/signal_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/receiver/receiver_front.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"
#include "tidemill/dvbs2/search/gold_search.hpp"
#include "tidemill/dvbs2/search/symbol_rate_search.hpp"
#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::cli {

namespace {

constexpr std::size_t kPreviewSamples = 2 * dvbs2::kSymbolRateSearchSamples;
constexpr std::size_t kMostRates = 8;
constexpr std::uint64_t kFramesThatConvince = 3;
constexpr double kSymbolsThatShowClock = 70e3;  // twice what the receiver takes to find it
constexpr double kMostWrong = 0.005;            // of a given symbol rate,
constexpr double kLeastWrong = 140e-6;          // what is less wrong the receiver's clock follows
constexpr std::uint64_t kFramesThatTellNoise = 20;
constexpr std::size_t kPilotsForGold = 4000;                     // 11 deviations at the threshold of QPSK 1/4
constexpr std::array<double, 3> kRolloffs = {0.35, 0.25, 0.20};  // EN 302 307-1, 5.1.6, by code

std::vector<dsp::Iq> read_preview(io::SampleSource& source, std::size_t most = kPreviewSamples) {
    const std::size_t size = dsp::bytes_per_sample(source.format());
    std::vector<std::byte> bytes(1 << 20);
    std::vector<dsp::Iq> samples;
    while (samples.size() < most) {
        const std::size_t wanted = std::min(bytes.size() / size, most - samples.size());
        const std::size_t got = source.read(std::span(bytes).first(wanted * size));
        if (got == 0) break;
        const std::size_t before = samples.size();
        samples.resize(before + got / size);
        dsp::convert_samples(source.format(), std::span(bytes).first(got),
                             std::span(samples).subspan(before));
    }
    return samples;
}

/// Looks at frames, whatever their scrambling.
class Listener final : public Module {
  public:
    Listener() : Module("listener") {}

    In<dsp::Iq> frame = in<dsp::Iq>("frame", dvbs2::kFrameBufferSymbols);
    Label<const dvbs2::FrameInfo> info = label<const dvbs2::FrameInfo>("info");
    Task listen = task("listen", &Listener::hear);

    const dvbs2::GoldSearch& gold() const { return gold_; }

  private:
    void hear(Frame f) {
        if (gold_.pilots() < kPilotsForGold) gold_.add(f[frame], f[info]);
    }

    dvbs2::GoldSearch gold_;
};

/// Facts that the frames in the preview show.
struct Heard {
    dvbs2::FrameSyncCounts counts;  // symbols: those whose clock was found
    dvbs2::GoldSearch gold;
};

bool only_dummies(const dvbs2::FrameSyncCounts& counts) {
    return counts.frames > 0 && counts.dummy_frames == counts.frames;
}

// With less than two samples a symbol a tuner stands before the front.
std::unique_ptr<io::SampleSource> source_of(std::span<const dsp::Iq> samples, double sample_rate_hz,
                                            const dvbs2::ReceiverConfig& config) {
    auto source =
        std::make_unique<io::MemoryReader>(std::as_bytes(samples), dsp::SampleFormat::cf32, sample_rate_hz);
    if (sample_rate_hz >= 2 * config.symbol_rate_hz) return source;
    return std::make_unique<dvbs2::TunedSource>(
        std::move(source), dvbs2::Tuning{.symbol_rate_hz = config.symbol_rate_hz, .rolloff = config.rolloff});
}

Heard listen(std::span<const dsp::Iq> samples, double sample_rate_hz, const dvbs2::ReceiverConfig& config) {
    const auto source = source_of(samples, sample_rate_hz, config);
    const dvbs2::PlScrambler scrambler(config.gold_code);
    Graph graph;
    const dvbs2::ReceiverFront front = dvbs2::add_front(
        graph, *source,
        {source->sample_rate_hz().value(), config.symbol_rate_hz, config.rolloff, config.block_samples});
    auto& frame_sync = graph.add<dvbs2::RxFrameSync>(scrambler, config.live);
    auto& listener = graph.add<Listener>();
    graph.bind(front.timing.symbols, frame_sync.symbols);
    graph.bind(frame_sync.frame, listener.frame);
    Sequence(graph).run({.statistics = false});
    return {frame_sync.counts(), listener.gold()};
}

void search_symbol_rate(std::span<const dsp::Iq> samples, double sample_rate_hz,
                        dvbs2::ReceiverConfig& config) {
    const auto rates = dvbs2::likely_symbol_rates(samples, kMostRates);
    for (const double rate : rates) {
        config.symbol_rate_hz = rate * sample_rate_hz;
        if (listen(samples, sample_rate_hz, config).counts.frames >= kFramesThatConvince) return;
    }
    throw NoSignalFound(fmt::format(
        "no symbol rate found: {} likely ones gave no DVB-S2 frames in {} samples; give --symbol-rate, or "
        "--offset where the carrier is not in the middle",
        rates.size(), samples.size()));
}

void search_gold_code(std::span<const dsp::Iq> samples, double sample_rate_hz,
                      dvbs2::ReceiverConfig& config) {
    const Heard heard = listen(samples, sample_rate_hz, config);
    const std::optional<int> code = heard.gold.best();
    if (!code && only_dummies(heard.counts))
        throw NoSignalFound(fmt::format(
            "no gold code found: all of {} frames are dummy frames, which have no pilots; give --gold",
            heard.counts.frames));
    if (!code)
        throw NoSignalFound(fmt::format("no gold code found: {} frames with {} pilot symbols; give --gold",
                                        heard.counts.frames, heard.gold.pilots()));
    config.gold_code = *code;
}

/// Result of the frames received with one roll-off.
struct RolloffTrial {
    double tried = 0;
    std::optional<double> named{};  // by the first good BBFRAME that names one
    std::uint64_t frames_good = 0;
    bool only_dummies = false;
    double esn0_db = 0;
};

RolloffTrial try_rolloff(io::SampleSource& source, const dvbs2::ReceiverConfig& config) {
    RolloffTrial trial{.tried = config.rolloff};
    const auto look = [&](const dvbs2::ReceivedFrame& frame) {
        const auto [header, fault] = dvbs2::parse_bb_header(frame.bbframe);
        if (frame.good && fault == dvbs2::BbFault::none && header.rolloff_code < kRolloffs.size()) {
            trial.named = kRolloffs[header.rolloff_code];
        }
    };
    dvbs2::Receiver receiver(source, config,
                             dvbs2::RxOutputs{.streams = {.packets = [](auto, auto) {}}, .frames = look});
    const auto enough = [&] {
        return trial.named || receiver.totals().frames_good() >= kFramesThatTellNoise ||
               receiver.report().samples > kPreviewSamples;
    };
    Sequence(receiver.graph()).run({.stop_when = enough, .statistics = false});
    trial.frames_good = receiver.totals().frames_good();
    trial.only_dummies = only_dummies(receiver.report().sync);
    trial.esn0_db = trial.frames_good > 0 ? receiver.totals().esn0_db() : 0;
    return trial;
}

// Frames may leave it open (bits 11): then the filter that leaves the least noise is the right one.
void search_rolloff(const OpenSamples& open, dvbs2::ReceiverConfig& config) {
    std::optional<RolloffTrial> best;
    bool has_dummies = false;
    for (const double tried : {config.rolloff, kRolloffs[0], kRolloffs[1]}) {
        dvbs2::ReceiverConfig with = config;
        with.rolloff = tried;
        const RolloffTrial trial = try_rolloff(*open(), with);
        if (trial.named) {
            config.rolloff = *trial.named;
            return;
        }
        has_dummies |= trial.only_dummies;
        if (trial.frames_good > 0 && (!best || trial.esn0_db > best->esn0_db)) best = trial;
    }
    if (!best && has_dummies)
        throw NoSignalFound(
            "no roll-off found: nothing but dummy frames, which do not carry it; give --rolloff");
    if (!best) throw NoSignalFound("no roll-off found: no frame could be decoded with any; give --rolloff");
    config.rolloff = best->tried;
}

}  // namespace

void search_signal(const OpenSamples& open, const SearchFor& search, dvbs2::ReceiverConfig& config) {
    if (search.symbol_rate || search.gold_code) {
        const auto source = open();
        const auto samples = read_preview(*source);
        const double sample_rate_hz = source->sample_rate_hz().value();
        if (search.symbol_rate) search_symbol_rate(samples, sample_rate_hz, config);
        if (config.symbol_rate_hz == 0) config.symbol_rate_hz = sample_rate_hz / 2;
        if (search.gold_code) search_gold_code(samples, sample_rate_hz, config);
    }
    if (search.rolloff) search_rolloff(open, config);
}

std::optional<double> corrected_symbol_rate(const OpenSamples& open, dvbs2::ReceiverConfig config) {
    const auto source = open();
    const double sample_rate_hz = source->sample_rate_hz().value();
    const double told_hz = config.symbol_rate_hz;
    const auto look = static_cast<std::size_t>(kSymbolsThatShowClock / told_hz * sample_rate_hz);
    if (listen(read_preview(*source, look), sample_rate_hz, config).counts.symbols > 0) return std::nullopt;
    const auto samples = read_preview(*open());
    const double highest = std::max(0.5, told_hz / sample_rate_hz * (1 + kMostWrong));
    for (const double rate : dvbs2::likely_symbol_rates(samples, kMostRates, highest)) {
        config.symbol_rate_hz = rate * sample_rate_hz;
        const double wrong = std::abs(config.symbol_rate_hz / told_hz - 1);
        if (wrong < kLeastWrong || wrong > kMostWrong) continue;
        if (listen(samples, sample_rate_hz, config).counts.frames >= kFramesThatConvince)
            return config.symbol_rate_hz;
    }
    return std::nullopt;
}

}  // namespace tidemill::cli
