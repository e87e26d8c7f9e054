#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/rotator.hpp"
#include "tidemill/dvbs2/receiver/band_receiver.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr double kRate = 1e6, kBandRate = 4e6;
constexpr double kSeconds = 40;
constexpr double kDrift_hz_per_s = 1300;  // 1.3e-9 of the symbol rate in each symbol
constexpr double kDrifted_hz = kSeconds * kDrift_hz_per_s;

/// Two carriers, of which each sends the same frames again and again, so that they go on for ever.
const std::vector<dsp::Iq>& two_carriers() {
    static const std::vector<dsp::Iq> made = [] {
        constexpr std::size_t kSymbols = 40 * 8370;  // QPSK 2/3, short frames with pilots
        constexpr std::size_t kPeriod = kSymbols * static_cast<std::size_t>(kBandRate / kRate);
        std::vector<dsp::Iq> band(kPeriod);
        for (const double offset_hz : {-1.1e6, 0.9e6}) {
            const auto own = make_carrier({}, 0.334, offset_hz > 0 ? 5 : 6).samples;
            std::vector<dsp::Iq> thrice;
            for (int k = 0; k < 3; ++k) thrice.insert(thrice.end(), own.begin(), own.begin() + 2 * kSymbols);
            const auto wide = at_rate(thrice, 2 * kRate, kBandRate, 0.7 * kRate, 1.3 * kRate);
            // Whole cycles in a period.
            const double cycles = std::round(offset_hz / kBandRate * kPeriod) / kPeriod;
            std::vector<dsp::Iq> turned(kPeriod);
            dsp::rotate(std::span(wide).subspan(kPeriod, kPeriod), {0, cycles, 1}, turned);
            for (std::size_t n = 0; n < kPeriod; ++n) band[n] += turned[n];
        }
        dsp::add_gaussian_noise(7, 0, 0.8F, band);
        return band;
    }();
    return made;
}

/// The band, which drifts as a whole while it is read.
class DriftingBand final : public io::SampleSource {
  public:
    dsp::SampleFormat format() const override { return dsp::SampleFormat::cf32; }
    std::optional<double> sample_rate_hz() const override { return kBandRate; }
    std::size_t read(std::span<std::byte> to) override {
        const auto& band = two_carriers();
        const auto left = static_cast<std::size_t>(kSeconds * kBandRate) - read_;
        const std::size_t count =
            std::min({to.size() / sizeof(dsp::Iq), band.size() - read_ % band.size(), kPiece, left});
        const double hz = kDrift_hz_per_s * static_cast<double>(read_) / kBandRate;
        dsp::rotate(std::span(band).subspan(read_ % band.size(), count), {cycles_, hz / kBandRate, 1},
                    std::span(piece_).first(count));
        cycles_ += hz / kBandRate * static_cast<double>(count);
        cycles_ -= std::floor(cycles_);
        read_ += count;
        std::copy_n(reinterpret_cast<const std::byte*>(piece_.data()), count * sizeof(dsp::Iq), to.begin());
        return count * sizeof(dsp::Iq);
    }

  private:
    static constexpr std::size_t kPiece = 4096;

    std::vector<dsp::Iq> piece_ = std::vector<dsp::Iq>(kPiece);
    std::size_t read_ = 0;
    double cycles_ = 0;
};

// The first frames are lost to the lock, and at the end of each period the packets that lie across it.
void check_received(const ReceptionReport& report, double offset_hz) {
    CHECK(static_cast<double>(report.totals.frames) > kSeconds * kRate / 8370 - 5);
    CHECK(report.totals.frames_bad == 0);
    CHECK(std::abs(report.frequency_hz - offset_hz - kDrifted_hz) < 200);
}

Tuning tuning_to(double offset_hz) {
    return {.symbol_rate_hz = kRate, .offset_hz = offset_hz, .neighbour_hz = 0.65 * kRate};
}

}  // namespace

TEST_CASE("drift: a carrier that leaves its filter in 40 million symbols is followed, and loses no frame") {
    TunedSource source(std::make_unique<DriftingBand>(), tuning_to(0.9e6));
    Receiver receiver(source, {.symbol_rate_hz = kRate, .tuned_hz = 0.9e6}, [](auto) {});
    Sequence(receiver.graph()).run({.statistics = false});
    check_received(receiver.report(), 0.9e6);
    CHECK(std::abs(source.moved().hz - kDrifted_hz) < 0.012 * kRate);
}

TEST_CASE("drift: carriers that are received together are followed, the same under any schedule") {
    const auto received = [](const auto& run) {
        DriftingBand band;
        std::vector<CarrierOfBand> carriers;
        std::vector<std::vector<std::uint8_t>> packets(2);
        for (std::size_t k = 0; k < 2; ++k) {
            carriers.push_back({.name = k == 0 ? "c1" : "c2", .tuning = tuning_to(k == 0 ? -1.1e6 : 0.9e6)});
            carriers.back().outputs.streams.packets = [&own = packets[k]](auto more, auto) {
                own.insert(own.end(), more.begin(), more.end());
            };
        }
        BandReceiver receiver(band, std::move(carriers));
        run(receiver.graph());
        check_received(receiver.report(0), -1.1e6);
        check_received(receiver.report(1), 0.9e6);
        for (std::size_t k = 0; k < 2; ++k)
            CHECK(std::abs(receiver.followed_hz(k) - kDrifted_hz) < 0.012 * kRate);
        return packets;
    };
    const auto in_order = received([](Graph& graph) { Sequence(graph).run({.statistics = false}); });
    const auto at_once = received([](Graph& graph) { Dynamic(graph, {.workers = 3}).run(); });
    CHECK(in_order == at_once);
}

}  // namespace tidemill::dvbs2
