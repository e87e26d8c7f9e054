#include "tidemill/dvbs2/receiver/receiver_front.hpp"

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/front/testing/front_signal.hpp"
#include "tidemill/dvbs2/receiver/testing/front_symbols.hpp"

namespace tidemill::dvbs2 {
namespace {

using Wide = std::complex<double>;
using internal::front_symbols;
using internal::FrontSymbols;

FrontConfig config_of(const SignalSpec& spec, std::uint32_t block_samples = kMaxBlockSamples) {
    return {spec.sps, 1.0, spec.rolloff, block_samples};
}

// Products of neighbouring symbols carry the data whatever phase and (small) frequency is left. Over their
// root mean square, so that at a signal's edge the first strong one alone does not look like all of them.
double likeness(std::span<const Iq> got, std::span<const Iq> sent) {
    Wide sum{};
    double energy = 1e-30;
    for (std::size_t k = 0; k + 1 < sent.size(); ++k) {
        const Wide a = Wide(got[k + 1]) * std::conj(Wide(got[k]));
        sum += a * std::conj(Wide(sent[k + 1]) * std::conj(Wide(sent[k])));
        energy += std::norm(a);
    }
    return std::abs(sum) / std::sqrt(energy * static_cast<double>(sent.size()));
}

// Place in `got` of sent[at], searched near where it should be.
std::ptrdiff_t find_sent(const std::vector<Iq>& got, const std::vector<Iq>& sent, std::size_t at,
                         std::size_t near, std::size_t reach) {
    constexpr std::size_t kLength = 200;
    std::ptrdiff_t best = -1;
    double most = 0.3;
    for (std::size_t n = near > reach ? near - reach : 0; n < near + reach && n + kLength <= got.size();
         ++n) {
        const double here =
            likeness(std::span(got).subspan(n, kLength), std::span(sent).subspan(at, kLength));
        if (here > most) most = here, best = static_cast<std::ptrdiff_t>(n);
    }
    return best;
}

// Frequency that is left between `got` and `sent`, in radians per symbol.
double residual_step(std::span<const Iq> got, std::span<const Iq> sent) {
    constexpr std::size_t kLag = 32;
    Wide turn{};
    for (std::size_t k = kLag; k < sent.size(); ++k) {
        turn += Wide(got[k]) * std::conj(Wide(sent[k])) *
                std::conj(Wide(got[k - kLag]) * std::conj(Wide(sent[k - kLag])));
    }
    return std::arg(turn) / kLag;
}

// Error of the received symbols after the best amplitude and phase of every 128 symbols, in dB.
double evm_db(std::span<const Iq> got, std::span<const Iq> sent) {
    constexpr std::size_t kWindow = 128, kStretch = 32 * kWindow;
    double error = 0.0, step = 0.0;
    std::size_t count = 0;
    for (std::size_t start = 0; start + kWindow <= sent.size(); start += kWindow) {
        if (start % kStretch == 0) {
            const std::size_t length = std::min(kStretch, sent.size() - start);
            step = residual_step(got.subspan(start, length), sent.subspan(start, length));
        }
        std::vector<Wide> z;
        Wide mean{};
        for (std::size_t k = start; k < start + kWindow; ++k) {
            z.push_back(Wide(got[k]) * std::conj(Wide(sent[k])) *
                        std::polar(1.0, -step * static_cast<double>(k)));
            mean += z.back() / static_cast<double>(kWindow);
        }
        for (const Wide& v : z) error += std::norm(v / mean - 1.0);
        count += kWindow;
    }
    return 10.0 * std::log10(error / static_cast<double>(count));
}

struct Received {
    MadeSignal made;
    FrontSymbols got;
    std::ptrdiff_t first = -1;  // place of the first symbol sent
};

Received receive(const SignalSpec& spec, std::uint32_t block_samples = kMaxBlockSamples) {
    Received r{make_signal(spec), {}};
    r.got = front_symbols(config_of(spec, block_samples), r.made.samples);
    constexpr std::size_t kProbe = 100;  // a whole filter length inside
    const auto near = static_cast<std::size_t>(static_cast<double>(spec.lead) / spec.sps) + kProbe;
    const std::ptrdiff_t found = find_sent(r.got.symbols, r.made.symbols, kProbe, near, near + 64);
    if (found >= 0) r.first = found - static_cast<std::ptrdiff_t>(kProbe);
    return r;
}

double evm_of(const Received& r, std::size_t from, std::size_t to) {
    REQUIRE(r.first >= 0);
    const auto start = static_cast<std::size_t>(r.first);
    REQUIRE(start + to <= r.got.symbols.size());
    return evm_db(std::span(r.got.symbols).subspan(start + from, to - from),
                  std::span(r.made.symbols).subspan(from, to - from));
}

}  // namespace

TEST_CASE("front: without noise the error is below -30 dB from the first symbol to the last") {
    for (const double sps : {2.0, 2.7, 4.0}) {
        for (const double cfo : {0.0, 0.05, -0.1}) {
            for (const double ppm : {-100.0, 0.0, 100.0}) {
                SignalSpec spec{
                    .symbols = 36000, .points = cfo == 0.0 ? 4 : 8, .sps = sps, .cfo = cfo, .ppm = ppm};
                if (sps != 2.0 && (ppm == 0.0 || cfo == 0.0)) continue;
                CAPTURE(sps);
                CAPTURE(cfo);
                CAPTURE(ppm);
                const Received r = receive(spec);
                CHECK(evm_of(r, 0, 512) < -30.0);
                CHECK(evm_of(r, 0, spec.symbols - 32) < -32.0);
                CHECK(r.got.restarts == 1);
                CHECK(std::abs(r.got.frequency - cfo) < 0.003);
                CHECK(std::abs(r.got.clock_ppm - ppm) < 3.0);
            }
        }
    }
}

TEST_CASE("front: the roll-offs of the standard and high rates of sampling come through alike") {
    for (const double rolloff : {0.20, 0.25, 0.35}) {
        const Received r =
            receive({.symbols = 36000, .sps = 8.3, .rolloff = rolloff, .cfo = 0.02, .ppm = 50.0});
        CAPTURE(rolloff);
        CHECK(evm_of(r, 0, 35900) < -32.0);
    }
}

TEST_CASE("front: of 200,000 symbols in noise none is lost and none is doubled") {
    for (const double ppm : {-100.0, 100.0}) {
        const SignalSpec spec{.symbols = 200000, .cfo = 0.01, .ppm = ppm, .esn0_db = 3.0};
        const Received r = receive(spec);
        REQUIRE(r.first >= 0);
        for (std::size_t at = 0; at + 200 < spec.symbols; at += 4000) {
            const std::size_t want = static_cast<std::size_t>(r.first) + at;
            CHECK(find_sent(r.got.symbols, r.made.symbols, at, want, 5) == static_cast<std::ptrdiff_t>(want));
        }
        CHECK(r.got.restarts == 1);
    }
}

TEST_CASE("front: at -2.35 dB Es/N0 the symbols' own noise grows by less than 0.3 dB") {
    const double esn0_db = -2.35;
    const SignalSpec spec{.symbols = 150000, .cfo = -0.03, .ppm = 60.0, .esn0_db = esn0_db, .lead = 9000};
    const Received r = receive(spec);
    REQUIRE(r.first >= 0);
    // Against the known data, with one phase per 128 symbols, which itself takes a share of the noise away.
    const double evm = evm_of(r, 20000, 140000);
    const double fitted = 10.0 * std::log10(1.0 - 2.0 / 128.0);
    CHECK(evm - fitted < -esn0_db + 0.3);
    CHECK(evm - fitted > -esn0_db - 0.3);
    CHECK(evm_of(r, 128, 5000) < -esn0_db + 0.8);
}

TEST_CASE("front: the size of the blocks does not change the symbols") {
    const SignalSpec spec{.symbols = 90000, .cfo = 0.04, .ppm = -70.0, .esn0_db = 6.0, .lead = 3000};
    const Received whole = receive(spec);
    for (const std::uint32_t block_samples : {2048U, 6144U}) {
        const Received other = receive(spec, block_samples);
        const std::size_t common = std::min(whole.got.symbols.size(), other.got.symbols.size());
        CHECK(common + 2 * kSubblockSymbols > std::max(whole.got.symbols.size(), other.got.symbols.size()));
        double error = 0.0;
        for (std::size_t k = 0; k < common; ++k)
            error += std::norm(whole.got.symbols[k] - other.got.symbols[k]);
        CHECK(10.0 * std::log10(error / static_cast<double>(common) + 1e-30) < -60.0);
    }
}

TEST_CASE("front: silence and noise, however long, give no symbols") {
    const auto silence = front_symbols({2.0, 1.0, 0.2}, std::vector<Iq>(300000));
    CHECK(silence.symbols.empty());
    CHECK(silence.dropped_blocks >= 18);
    SignalSpec noise{.symbols = 0, .esn0_db = 0.0, .lead = 600000};
    const auto nothing = front_symbols({2.0, 1.0, 0.2}, make_signal(noise).samples);
    CHECK(nothing.symbols.empty());
    CHECK(nothing.restarts == 0);
    noise.sps = 8.0;
    CHECK(front_symbols({8.0, 1.0, 0.2}, make_signal(noise).samples).symbols.empty());
    CHECK(front_symbols({2.0, 1.0, 0.2}, {}).symbols.empty());
}

TEST_CASE("front: a signal that falls silent before its frequency is known is not waited for") {
    constexpr std::uint64_t kSilentBlocks = 60, kMostKept = 20;
    std::vector<Iq> samples = make_signal({.symbols = 9000, .esn0_db = 10.0}).samples;
    samples.resize(samples.size() + kSilentBlocks * kMaxBlockSamples);
    io::MemoryReader source(std::as_bytes(std::span(samples)), dsp::SampleFormat::cf32, 2.0);
    Graph graph;
    const auto front = internal::add_front_into(graph, source, {2.0, 1.0, 0.2}, [](const SymbolBlock&) {});
    // Not to the end, where nothing is kept in any case.
    Sequence(graph).run({.stop_when = [&] { return front.source.samples() == samples.size(); }});
    CHECK(front.coarse.dropped_blocks() >= kSilentBlocks - kMostKept);
}

TEST_CASE(
    "front: the carrier of a weak signal is not thought to have jumped because noise bends its spectrum") {
    for (const double sps : {2.0, 2.7, 4.0, 8.0}) {
        CAPTURE(sps);
        const SignalSpec spec{.symbols = 600000, .sps = sps, .cfo = 0.01, .esn0_db = -2.0};
        CHECK(front_symbols({sps, 1.0, 0.2}, make_signal(spec).samples).restarts == 1);
    }
}

TEST_CASE("front: a signal that begins after noise or silence is heard from its first symbol") {
    for (const double esn0_db : {1.0, 200.0}) {
        const SignalSpec spec{
            .symbols = 60000, .cfo = 0.03, .ppm = 20.0, .esn0_db = esn0_db, .lead = 150001, .tail = 5000};
        const Received r = receive(spec);
        CAPTURE(esn0_db);
        REQUIRE(r.got.symbols.size() >= spec.symbols);
        // Blocks before the signal were dropped, so its place is searched from the end.
        const std::size_t guess = r.got.symbols.size() - spec.symbols - 2500;
        const std::ptrdiff_t found = find_sent(r.got.symbols, r.made.symbols, 20, guess, 8000);
        REQUIRE(found >= 20);
        const auto first = static_cast<std::size_t>(found) - 20;
        CHECK(evm_db(std::span(r.got.symbols).subspan(first, 256), std::span(r.made.symbols).first(256)) <
              std::max(-30.0, -esn0_db + 1.5));
        CHECK(r.got.dropped_blocks > 0);
    }
}

TEST_CASE("front: after a gap in the signal it finds it again, at another frequency and level") {
    const SignalSpec before{.symbols = 120000, .cfo = 0.02, .ppm = 30.0, .esn0_db = 8.0, .tail = 400000};
    const SignalSpec after{.symbols = 120000,
                           .cfo = -0.05,
                           .ppm = -30.0,
                           .esn0_db = 8.0,
                           .amplitude = 0.1,
                           .tail = 100,
                           .seed = 2};
    const MadeSignal first = make_signal(before), second = make_signal(after);
    std::vector<Iq> samples = first.samples;
    samples.insert(samples.end(), second.samples.begin(), second.samples.end());
    const auto [symbols, restarts, dropped_blocks, frequency, clock_ppm] =
        front_symbols(config_of(before), samples);
    CHECK(restarts == 2);
    CHECK(find_sent(symbols, first.symbols, 119000, 119000, 9000) >= 0);
    const std::size_t guess = symbols.size() - 120000;
    const std::ptrdiff_t found = find_sent(symbols, second.symbols, 20, guess, 9000);
    REQUIRE(found >= 0);
    CHECK(evm_db(std::span(symbols).subspan(static_cast<std::size_t>(found), 110000),
                 std::span(second.symbols).subspan(20, 110000)) < -7.0);
    CHECK(std::abs(frequency + 0.05) < 0.003);
}

TEST_CASE("front: a signal that ends before its frequency is known does not spoil the next one's") {
    for (const double esn0_db : {-2.0, 0.0, 2.0}) {
        CAPTURE(esn0_db);
        const SignalSpec before{.symbols = 9000, .cfo = -0.05, .esn0_db = esn0_db, .tail = 70000};
        const SignalSpec after{.symbols = 60000, .cfo = 0.05, .esn0_db = 10.0, .seed = 2};
        std::vector<Iq> samples = make_signal(before).samples;
        const std::vector<Iq> second = make_signal(after).samples;
        samples.insert(samples.end(), second.begin(), second.end());
        CHECK(std::abs(front_symbols(config_of(before), samples).frequency - after.cfo) < 0.003);
    }
}

TEST_CASE("front: symbols come out with unit energy, whatever the level of the samples and the noise") {
    for (const double amplitude : {1e-4, 0.02, 300.0}) {
        const SignalSpec spec{.symbols = 40000, .cfo = 0.01, .esn0_db = 5.0, .amplitude = amplitude};
        const Received r = receive(spec);
        REQUIRE(r.first >= 0);
        double mean = 0.0;
        for (std::size_t k = 1000; k < 39000; k += 64) {
            Wide sum{};
            for (std::size_t i = k; i < k + 16; ++i) {
                sum += Wide(r.got.symbols[static_cast<std::size_t>(r.first) + i]) *
                       std::conj(Wide(r.made.symbols[i]));
            }
            mean += std::abs(sum) / 16.0;
        }
        CHECK(mean / std::ceil(38000.0 / 64.0) == doctest::Approx(1.0).epsilon(0.05));
    }
}

TEST_CASE("front: a click, however loud, harms nothing but the symbols it hits") {
    for (const float loudness : {30.0F, 1e6F, 1e9F}) {
        CAPTURE(loudness);
        const SignalSpec spec{.symbols = 220000, .cfo = 0.02, .ppm = 20.0, .esn0_db = 10.0};
        MadeSignal made = make_signal(spec);
        made.samples[240000] = loudness;
        const auto [symbols, restarts, dropped_blocks, frequency, clock_ppm] =
            front_symbols(config_of(spec), made.samples);
        CHECK(restarts == 1);
        CHECK(dropped_blocks == 0);
        const std::ptrdiff_t found = find_sent(symbols, made.symbols, 100, 100, 64);
        REQUIRE(found >= 0);
        const auto from = static_cast<std::size_t>(found) - 100;
        CHECK(evm_db(std::span(symbols).subspan(from + 120064, 99936),
                     std::span(made.symbols).subspan(120064, 99936)) < -9.7);
    }
}

TEST_CASE("front: a lasting change of level is made good") {
    const SignalSpec spec{.symbols = 800000, .cfo = 0.02, .esn0_db = 10.0};
    MadeSignal made = make_signal(spec);
    for (std::size_t n = 400000; n < made.samples.size(); ++n) made.samples[n] *= 0.5F;
    const std::vector<Iq> symbols = front_symbols(config_of(spec), made.samples).symbols;
    double energy = 0.0;
    for (std::size_t k = 700000; k < 790000; ++k) energy += std::norm(symbols[k]) / 90000.0;
    CHECK(energy / 1.1 == doctest::Approx(1.0).epsilon(0.15));
}

// The front hurries only after what is urgent, 0.012 cycles a symbol: less it leaves to the carrier's loop.
TEST_CASE("front: what an oscillator drifts away by is kept below what is urgent") {
    const SignalSpec spec{.symbols = 300000, .cfo = 0.0, .drift = 3e-8, .esn0_db = 10.0};
    const Received r = receive(spec);
    CHECK(std::abs(r.got.frequency - 3e-8 * 300000) < 0.012);
    CHECK(evm_of(r, 200000, 290000) < -9.5);
}

}  // namespace tidemill::dvbs2
