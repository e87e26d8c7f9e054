#include "tidemill/dvbs2/carrier/demapper.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "tidemill/dvbs2/carrier/internal/demap_kernel.hpp"
#include "tidemill/dvbs2/standard/testing/test_frames.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

// Bit `place` of the FECFRAME, computed as the textbook writes it.
int textbook_llr(const std::vector<Iq>& data, const Modcod& modcod, const SignalQuality& quality, float scale,
                 std::size_t place) {
    const Interleaver interleaver = interleaver_of(modcod);
    const auto width = static_cast<std::size_t>(bits_per_symbol(modcod.modulation));
    const bool interleaved = interleaver.columns > 1;
    const std::size_t symbol = interleaved ? place % data.size() : place / width;
    const auto column = static_cast<int>(interleaved ? place / data.size() : place % width);
    const std::size_t bit = interleaved
                                ? static_cast<std::size_t>(std::find(interleaver.read_order,
                                                                     interleaver.read_order + width, column) -
                                                           interleaver.read_order)
                                : static_cast<std::size_t>(column);
    std::array<double, 2> likely{};
    const auto points = constellation_of(modcod);
    for (std::size_t label = 0; label < points.size(); ++label) {
        const double distance = std::norm(data[symbol] - quality.amplitude * points[label]);
        likely[label >> (width - 1 - bit) & 1U] += std::exp(-distance / quality.noise_variance);
    }
    const double llr = scale * std::log(likely[0] / likely[1]);
    return static_cast<int>(std::clamp(std::nearbyint(llr), -127.0, 127.0));
}

constexpr float kScale = 6;

TEST_CASE("demapper: on every target all modulations agree with the textbook within one step") {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        for (const int number : {4, 12, 13, 19, 26}) {
            for (const std::size_t symbols : {1U, 7U, 16U, 121U}) {
                const Modcod& modcod = *find_modcod(number);
                std::mt19937 random(21);
                const auto padded = noise(symbols + 1, -1, random);
                const std::vector<Iq> data(padded.begin() + 1, padded.end());
                const SignalQuality quality{0.8F, 0.2F};
                std::vector<fec::Llr> llrs(symbols *
                                           static_cast<std::size_t>(bits_per_symbol(modcod.modulation)));
                demap(std::span(padded).subspan(1), modcod, quality, kScale, llrs);
                int worst = 0;
                for (std::size_t i = 0; i < llrs.size(); ++i) {
                    worst =
                        std::max(worst, std::abs(llrs[i] - textbook_llr(data, modcod, quality, kScale, i)));
                }
                CAPTURE(number);
                CAPTURE(hwy::TargetName(target));
                CHECK(worst <= 1);
            }
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

TEST_CASE("demapper: the bits of a frame without noise come back in their order, in every MODCOD") {
    for (const Modcod& modcod : all_modcods()) {
        std::mt19937 random(22);
        const auto frame = make_frame({modcod.number, FrameSize::normal, false}, PlScrambler(0), random);
        const auto data = map_bits(modcod, frame.bits);
        std::vector<fec::Llr> llrs(frame.bits.size());
        demap(data, modcod, {1.0F, 0.01F}, 1.0F, llrs);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < llrs.size(); ++i) {
            wrong += (llrs[i] < 0) == (frame.bits[i] == 1) && llrs[i] != 0 ? 0 : 1;
        }
        CAPTURE(modcod.number);
        CHECK(wrong == 0);
    }
}

TEST_CASE("demapper: a symbol that is known to be lost tells nothing, in any constellation") {
    for (const int number : {4, 12, 19, 26}) {
        CAPTURE(number);
        const Modcod& modcod = *find_modcod(number);
        std::mt19937 random(25);
        std::vector<Iq> data = noise(37, 10, random);
        data[5] = data[36] = {};
        data[6] = {0, 0.2F};
        const auto width = static_cast<std::size_t>(bits_per_symbol(modcod.modulation));
        std::vector<fec::Llr> llrs(data.size() * width, 1);
        demap(data, modcod, {1.0F, 0.02F}, kScale, llrs);
        const bool interleaved = interleaver_of(modcod).columns > 1;
        std::size_t told = 0;
        for (std::size_t bit = 0; bit < width; ++bit) {
            const auto llr_of = [&](std::size_t symbol) {
                return int{llrs[interleaved ? bit * data.size() + symbol : symbol * width + bit]};
            };
            CHECK(llr_of(5) == 0);
            CHECK(llr_of(36) == 0);
            told += llr_of(6) != 0 ? 1 : 0;
        }
        CHECK(told > 0);
    }
}

double q_function(double x) {
    return 0.5 * std::erfc(x / std::sqrt(2.0));
}

TEST_CASE("demapper: the signs of QPSK and 8PSK are as often wrong as theory says") {
    struct Row {
        int modcod;
        double esn0_db;
    };
    for (const Row& row : {Row{4, 1.0}, Row{7, 4.0}, Row{10, 6.2}, Row{13, 12.0}, Row{16, 10.7}}) {
        const Modcod& modcod = *find_modcod(row.modcod);
        const double esn0 = std::pow(10, row.esn0_db / 10);
        // QPSK exactly; 8PSK with Gray labels: the two nearest decision borders, two thirds of a bit each.
        const double theory =
            modcod.modulation == Modulation::qpsk
                ? q_function(std::sqrt(esn0))
                : 2.0 / 3 * q_function(std::sqrt(2 * esn0) * std::sin(std::numbers::pi / 8));
        std::mt19937 random(23);
        double wrong = 0;
        double total = 0;
        for (int repeat = 0; repeat < 8; ++repeat) {
            const auto frame = make_frame({row.modcod, FrameSize::normal, false}, PlScrambler(0), random);
            const auto data =
                transmit(map_bits(modcod, frame.bits), {.esn0_db = row.esn0_db, .phase = 0}, random);
            std::vector<fec::Llr> llrs(frame.bits.size());
            // A large scale, so that no LLR rounds to 0.
            demap(data, modcod, {1.0F, static_cast<float>(1 / esn0)}, 1000.0F, llrs);
            for (std::size_t i = 0; i < llrs.size(); ++i) {
                wrong += (llrs[i] < 0) == (frame.bits[i] == 1) ? 0 : 1;
            }
            total += static_cast<double>(llrs.size());
        }
        CAPTURE(row.modcod);
        CHECK(std::abs(wrong - theory * total) < 4 * std::sqrt(theory * total) + 0.01 * theory * total);
    }
}

TEST_CASE("demapper: LLRs mean what they say: of the bits with LLR 2 in natural units, one in 8.4 is wrong") {
    const Modcod& modcod = *find_modcod(4);
    std::mt19937 random(24);
    const auto frame = make_frame({4, FrameSize::normal, false}, PlScrambler(0), random);
    const auto data = transmit(map_bits(modcod, frame.bits), {.esn0_db = 1.0, .phase = 0}, random);
    std::vector<fec::Llr> llrs(frame.bits.size());
    demap(data, modcod, {1.0F, std::pow(10.0F, -0.1F)}, 8.0F, llrs);
    double wrong = 0;
    double total = 0;
    for (std::size_t i = 0; i < llrs.size(); ++i) {
        if (std::abs(std::abs(llrs[i]) - 16) <= 1) {
            wrong += (llrs[i] < 0) == (frame.bits[i] == 1) ? 0 : 1;
            ++total;
        }
    }
    CHECK(total > 1000);
    CHECK(wrong / total == doctest::Approx(1 / (1 + std::exp(2.0))).epsilon(0.12));
}

}  // namespace
}  // namespace tidemill::dvbs2
