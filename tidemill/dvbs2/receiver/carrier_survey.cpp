#include "tidemill/dvbs2/receiver/carrier_survey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "tidemill/base/quantile.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/receiver/receiver_front.hpp"
#include "tidemill/dvbs2/search/carrier_rates.hpp"
#include "tidemill/dvbs2/search/dvbs_look.hpp"
#include "tidemill/dvbs2/search/internal/source_pieces.hpp"
#include "tidemill/dvbs2/search/vl_snr_look.hpp"
#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/dvbs2/standard/vl_snr_header.hpp"
#include "tidemill/dvbs2/sync/extension_header.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/transport/service_list.hpp"
#include "tidemill/io/transport/ts_monitor.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::dvbs2 {

namespace {

// Eight of the longest frames and as much as a lock takes; when frames came, how many, and how long names are
// waited for: tables of services come every two seconds (EN 300 468 asks for that).
constexpr double kListenedSymbols = 300'000;
constexpr std::uint64_t kGoodFrames = 3;
constexpr double kServiceSeconds = 2.5;

// One header in 10^12 of noise looks so good, and there have to be several.
constexpr float kHeaderQuality = 0.33F;
constexpr int kHeadersThatConvince = 3;

constexpr std::array<double, 3> kRolloffsByCode = {0.35, 0.25, 0.20};  // EN 302 307-1, 5.1.6, by code

/// Distinguishes headers of DVB-S2 from those of DVB-S2X, and keeps the last symbols.
class HeaderTally final : public Module {
  public:
    HeaderTally() : Module("header_tally") {}

    In<SymbolBlock> symbols = in<SymbolBlock>("symbols");
    Task count = task("count", &HeaderTally::look);

    std::span<const Iq> latest() const { return latest_; }
    int plain() const { return plain_; }
    int extended() const { return extended_; }
    int most_frequent() const {
        const auto most = std::ranges::max_element(codes_);
        return static_cast<int>(most - codes_.begin()) + 128;
    }

  private:
    void look(Frame f) {
        const SymbolBlock& block = f[symbols][0];
        const auto came = std::span(block.symbols).first(block.count);
        if (block.restart) heard_.clear();
        heard_.insert(heard_.end(), came.begin(), came.end());
        remember(came, block.restart);
        places_.clear();
        const std::size_t tried = search_.scan(heard_, places_);
        for (const std::size_t place : places_)
            examine(std::span(heard_).subspan(place).first<kHeaderSymbols>());
        heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(tried));
    }

    void remember(std::span<const Iq> came, bool restart) {
        constexpr std::size_t kKept = 2 * kDvbsLookSymbols;
        if (restart) latest_.clear();
        latest_.insert(latest_.end(), came.begin(), came.end());
        if (latest_.size() > 2 * kKept)
            latest_.erase(latest_.begin(), latest_.end() - static_cast<std::ptrdiff_t>(kKept));
    }

    void examine(std::span<const Iq, kHeaderSymbols> header) {
        const HeaderHit plain = examine_header(header), extended = examine_extension_header(header);
        if (std::max(plain.quality, extended.quality) < kHeaderQuality) return;
        if (plain.quality >= extended.quality) {
            ++plain_;
        } else {
            ++extended_;
            ++codes_.at(static_cast<std::size_t>(extended.code - 128));
        }
    }

    HeaderSearch search_{};
    std::vector<Iq> heard_{}, latest_{};
    std::vector<std::size_t> places_{};
    std::array<int, 128> codes_{};
    int plain_ = 0;
    int extended_ = 0;
};

Tuning tuning_of(const SurveyedCarrier& carrier, double rolloff) {
    return {.symbol_rate_hz = carrier.symbol_rate_hz,
            .rolloff = rolloff,
            .offset_hz = carrier.seen.offset_hz,
            .neighbour_hz = carrier.seen.neighbour_hz};
}

// At two samples a symbol.
std::vector<Iq> beginning(const OpenSamples& open, const SurveyedCarrier& carrier) {
    TunedSource source(open(), tuning_of(carrier, carrier.rolloff));
    std::vector<Iq> samples;
    internal::read_pieces(source, [&](std::span<Iq> piece) {
        samples.insert(samples.end(), piece.begin(), piece.end());
        return samples.size() < 2 * kVlSnrLookSymbols;
    });
    return samples;
}

void count_headers(const OpenSamples& open, SurveyedCarrier& carrier) {
    TunedSource source(open(), tuning_of(carrier, carrier.rolloff));
    const double rate_hz = *source.sample_rate_hz();
    const double listened = kListenedSymbols * rate_hz / carrier.symbol_rate_hz;
    Graph graph;
    const ReceiverFront front =
        add_front(graph, source, {rate_hz, carrier.symbol_rate_hz, carrier.rolloff, kMaxBlockSamples});
    auto& tally = graph.add<HeaderTally>();
    graph.bind(front.timing.symbols, tally.symbols);
    const auto enough = [&] { return static_cast<double>(front.source.samples()) > listened; };
    Sequence(graph).run({.stop_when = enough, .statistics = false});
    carrier.heard_s = static_cast<double>(front.source.samples()) / rate_hz;
    if (tally.extended() >= kHeadersThatConvince && tally.extended() > tally.plain()) {
        carrier.kind = CarrierKind::dvbs2x;
        carrier.header_code = tally.most_frequent();
    } else if (tally.plain() >= kHeadersThatConvince) {
        carrier.kind = CarrierKind::dvbs2_weak;
    } else if (const auto rate = look_for_dvbs(tally.latest())) {
        carrier.kind = CarrierKind::dvbs;
        carrier.dvbs_rate = *rate;
    } else if (const auto header = look_for_vl_snr(beginning(open, carrier), carrier.rolloff)) {
        carrier.kind = CarrierKind::dvbs2x;
        carrier.vl_snr_header = header;
        carrier.header_code = std::ranges::find(kVlSnrHeaders, *header, &VlSnrHeader::index)->pls_code;
    } else {
        carrier.kind = CarrierKind::other;
    }
}

/// Output of one input stream.
struct HeardStream {
    std::unique_ptr<io::TsMonitor> monitor = std::make_unique<io::TsMonitor>();
    io::ServiceList services{};
    bool generic = false;
};

/// Decodes frames, and keeps their results.
struct Listening {
    std::map<int, HeardStream> streams{};
    std::optional<double> rolloff{};
    std::vector<float> esn0s_db{};  // of good frames

    RxOutputs outputs() {
        RxOutputs outputs;
        outputs.choice.all = true;
        outputs.streams.packets = [this](auto packets, std::uint8_t stream) {
            streams[stream].monitor->look(packets);
            streams[stream].services.look(packets);
        };
        outputs.streams.generic = [this](auto, std::uint8_t stream) { streams[stream].generic = true; };
        outputs.frames = [this](const ReceivedFrame& frame) {
            const auto [header, fault] = parse_bb_header(frame.bbframe);
            if (frame.good) esn0s_db.push_back(frame.esn0_db);
            if (frame.good && fault == BbFault::none && header.rolloff_code < kRolloffsByCode.size())
                rolloff = kRolloffsByCode[header.rolloff_code];
        };
        return outputs;
    }

    // A frame that lies half beside the signal would spoil the mean of few.
    double median_esn0_db() { return middle_value(esn0s_db); }

    bool has_names() const {
        return !streams.empty() && std::ranges::all_of(streams, [](const auto& stream) {
            return stream.second.generic || !stream.second.services.names().empty();
        });
    }
};

// A dummy frame is known by its header alone.
bool receives_dummies(const FrameSyncCounts& sync, SurveyedCarrier& carrier) {
    if (sync.dummy_frames < kGoodFrames || sync.dummy_frames < sync.frames) return false;
    carrier.kind = CarrierKind::dvbs2_idle;
    return true;
}

bool decode(const OpenSamples& open, double rolloff, SurveyDepth depth, SurveyedCarrier& carrier) {
    TunedSource source(open(), tuning_of(carrier, rolloff));
    Listening heard;
    Receiver receiver(
        source,
        {.symbol_rate_hz = carrier.symbol_rate_hz, .rolloff = rolloff, .tuned_hz = carrier.seen.offset_hz},
        heard.outputs());
    const double rate_hz = open()->sample_rate_hz().value_or(1);
    const auto heard_s = [&] { return static_cast<double>(source.samples()) / rate_hz; };
    const auto enough = [&] {
        if (receiver.totals().frames_good() >= kGoodFrames) {
            return depth == SurveyDepth::frames || heard.has_names() ||
                   heard_s() > std::max(kServiceSeconds, kListenedSymbols / carrier.symbol_rate_hz);
        }
        return heard_s() * carrier.symbol_rate_hz > kListenedSymbols;
    };
    Sequence(receiver.graph()).run({.stop_when = enough, .statistics = false});
    carrier.heard_s = heard_s();
    const FrameTotals& totals = receiver.totals();
    if (totals.frames_good() == 0) return receives_dummies(receiver.report().sync, carrier);
    carrier.kind = CarrierKind::dvbs2;
    carrier.pls = totals.usual_pls();
    carrier.esn0_db = heard.median_esn0_db();
    carrier.offset_hz = receiver.now().frequency_hz;
    carrier.rolloff = heard.rolloff.value_or(rolloff);
    for (const auto& [number, stream] : heard.streams)
        carrier.streams[number] = {stream.generic, stream.monitor->programmes(), stream.services.names()};
    return true;
}

}  // namespace

SurveyedCarrier survey_at(const std::optional<double>& symbol_rate_hz, const OpenSamples& open,
                          const FoundCarrier& found, SurveyDepth depth) {
    SurveyedCarrier carrier{.seen = found, .offset_hz = found.offset_hz, .rolloff = found.rolloff};
    if (!symbol_rate_hz) return carrier;
    carrier.symbol_rate_hz = *symbol_rate_hz;
    try {
        // The filters of DVB-S2 are these; what was seen decides which comes first.
        const double likely = *std::ranges::min_element(
            kRolloffsByCode, {}, [&](double rolloff) { return std::abs(rolloff - found.rolloff); });
        if (!decode(open, likely, depth, carrier)) count_headers(open, carrier);
    } catch (const Dvbs2Error&) {
        carrier.kind = CarrierKind::not_received;
    }
    return carrier;
}

SurveyedCarrier survey(const OpenSamples& open, const FoundCarrier& found, SurveyDepth depth) {
    return survey_at(measure_symbol_rates(*open(), {&found, 1}).front(), open, found, depth);
}

}  // namespace tidemill::dvbs2
