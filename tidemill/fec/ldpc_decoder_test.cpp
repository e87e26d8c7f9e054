#include "tidemill/fec/ldpc_decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/fec_error.hpp"
#include "tidemill/fec/internal/ldpc_kernel.hpp"
#include "tidemill/fec/internal/noisy_llrs.hpp"
#include "tidemill/fec/ldpc_circulants.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"
#include "tidemill/fec/ldpc_range.hpp"

using namespace tidemill::fec;

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Decoded {
    LdpcResult result;
    Bytes information;

    bool operator==(const Decoded&) const = default;
};

// Layered decoding check by check in plain integers: what the vectorised decoder must equal bit for bit.
class TextbookDecoder {
  public:
    TextbookDecoder(const Dvbs2Code& code, const LdpcSettings& settings)
        : code_(code),
          settings_(settings),
          fast_iterations_(ldpc_fast_share(settings, code)),
          checks_(static_cast<std::size_t>(code.ldpc_parity())) {
        const std::vector<LdpcCheckLayer> layers = ldpc_check_layers(code);
        for (int check = 0; check < code.ldpc_parity(); ++check) {
            const LdpcCheckLayer& layer = layers[static_cast<std::size_t>(check % code.q())];
            for (const auto* circulants : {&layer.own, &layer.shared}) {
                for (const Circulant& circulant : *circulants) append(check, circulant);
            }
        }
    }

    Decoded decode(const std::vector<Llr>& llrs) {
        const int divisor = 1 << ldpc_halvings(code_, llrs);
        const double scale = llr_scale(code_) / divisor;
        for (std::size_t x = 0; x < corrections_.size(); ++x)
            corrections_[x] =
                static_cast<int>(std::round(scale * std::log1p(std::exp(-static_cast<double>(x) / scale))));
        posterior_.clear();
        for (const Llr llr : llrs) posterior_.push_back(llr / divisor);
        for (auto& edges : checks_) {
            for (Edge& edge : edges) edge.message = 0;
        }
        std::size_t fewest = kLdpcNearlyRight;
        Bytes nearest;
        const auto converged = [&] {
            const std::size_t failed = failed_checks();
            if (failed < fewest) nearest = decisions();
            fewest = std::min(fewest, failed);
            return failed == 0;
        };
        int sweep = 0;
        for (int since = 0; sweep < settings_.max_iterations && since < kLdpcPatience; ++sweep) {
            const std::size_t before = fewest;
            if (settings_.stop_early && converged()) return {{sweep, true}, nearest};
            const bool is_fast = sweep < fast_iterations_;
            since = !is_fast && fewest < kLdpcNearlyRight && fewest == before ? since + 1 : 0;
            for (int layer = 0; layer < code_.q(); ++layer) process(layer, is_fast);
        }
        const bool right = converged();
        return {{sweep, right}, nearest.empty() ? decisions() : nearest};
    }

  private:
    struct Edge {
        std::size_t bit;
        int message;
    };

    static int saturated(int value) { return std::clamp(value, -128, 127); }

    // The check of parity bit 0 has no earlier parity bit.
    void append(int check, const Circulant& circulant) {
        const int lane = check / code_.q();
        const int at = (lane - circulant.shift + kCirculantSize) % kCirculantSize;
        const int column = circulant.column - code_.k_ldpc / kCirculantSize;
        if (check == 0 && column == code_.q() - 1) return;
        const int bit =
            column < 0 ? kCirculantSize * circulant.column + at : code_.k_ldpc + column + code_.q() * at;
        checks_[static_cast<std::size_t>(check)].push_back({static_cast<std::size_t>(bit), 0});
    }

    // All checks of a layer see the posteriors from before it. A bit in one of them takes its extrinsic value
    // and the new message; a bit in several adds up the changes of its messages, edge by edge.
    void process(int layer, bool is_fast) {
        const std::vector<int> before = posterior_;
        std::vector<int> uses(posterior_.size());
        std::vector<std::vector<int>> messages;
        for (int lane = 0; lane < kCirculantSize; ++lane) {
            const std::vector<Edge>& edges = checks_[index(layer, lane)];
            for (const Edge& edge : edges) ++uses[edge.bit];
            messages.push_back(new_messages(edges, before, is_fast));
        }
        for (std::size_t e = 0; e < messages.back().size(); ++e) {
            for (int lane = 0; lane < kCirculantSize; ++lane) {
                if (e >= messages[static_cast<std::size_t>(lane)].size()) continue;
                Edge& edge = checks_[index(layer, lane)][e];
                const int message = messages[static_cast<std::size_t>(lane)][e];
                int& posterior = posterior_[edge.bit];
                posterior = saturated(uses[edge.bit] == 1 ? saturated(posterior - edge.message) + message
                                                          : posterior + saturated(message - edge.message));
                edge.message = message;
            }
        }
    }

    std::size_t failed_checks() const {
        const auto fails = [&](const std::vector<Edge>& edges) {
            return std::ranges::count_if(edges, [&](const Edge& e) { return posterior_[e.bit] < 0; }) % 2 !=
                   0;
        };
        return static_cast<std::size_t>(std::ranges::count_if(checks_, fails));
    }

    std::vector<int> new_messages(const std::vector<Edge>& edges, const std::vector<int>& before,
                                  bool is_fast) const {
        std::vector<int> extrinsics;
        bool negative = false;
        for (const Edge& edge : edges) {
            extrinsics.push_back(saturated(before[edge.bit] - edge.message));
            negative ^= extrinsics.back() < 0;
        }
        const Combined all = is_fast ? Combined{} : combined(extrinsics);
        std::vector<int> messages;
        for (std::size_t e = 0; e < edges.size(); ++e) {
            const int magnitude = is_fast ? least_of_others(extrinsics, e) : sum_product(all, extrinsics[e]);
            messages.push_back(negative != (extrinsics[e] < 0) ? -magnitude : magnitude);
        }
        return messages;
    }

    static int least_of_others(const std::vector<int>& extrinsics, std::size_t e) {
        int least = kLdpcMagnitudeCap;
        for (std::size_t other = 0; other < extrinsics.size(); ++other) {
            if (other != e) least = std::min(least, std::abs(extrinsics[other]));
        }
        return std::max(least - kLdpcOffset, 0);
    }

    struct Combined {
        int least, rest;
    };

    // Combined value of all but the smallest, in the order of the edges; to the others it comes in last.
    Combined combined(const std::vector<int>& extrinsics) const {
        Combined all{kLdpcMagnitudeCap, kLdpcMagnitudeCap};
        for (const int extrinsic : extrinsics) {
            all.rest = combined(all.rest, std::max(all.least, std::abs(extrinsic)));
            all.least = std::min(all.least, std::abs(extrinsic));
        }
        return all;
    }
    int sum_product(const Combined& all, int extrinsic) const {
        return std::abs(extrinsic) == all.least ? all.rest : combined(all.rest, all.least);
    }

    int combined(int a, int b) const {
        const auto correction = [&](int x) {
            return corrections_[static_cast<std::size_t>(std::min(x, 15))];
        };
        return std::max(std::min(a, b) + correction(a + b) - correction(std::abs(a - b)), 0);
    }

    std::size_t index(int layer, int lane) const {
        return static_cast<std::size_t>(layer) +
               static_cast<std::size_t>(code_.q()) * static_cast<std::size_t>(lane);
    }

    Bytes decisions() const {
        Bytes bits;
        for (int bit = 0; bit < code_.k_ldpc; ++bit)
            bits.push_back(posterior_[static_cast<std::size_t>(bit)] < 0);
        Bytes packed(bits.size() / 8);
        pack_bits(bits, packed);
        return packed;
    }

    Dvbs2Code code_;
    LdpcSettings settings_;
    int fast_iterations_;
    std::array<int, 16> corrections_{};  // of log(1 + exp(-x)), in the steps of the values
    std::vector<std::vector<Edge>> checks_;
    std::vector<int> posterior_;
};

Decoded decode(LdpcDecoder& decoder, const Dvbs2Code& code, std::span<const Llr> llrs) {
    Bytes information(static_cast<std::size_t>(code.k_ldpc / 8));
    const LdpcResult result = decoder.decode(llrs, information);
    return {result, information};
}

Bytes random_information(const Dvbs2Code& code, std::mt19937& random) {
    Bytes information(static_cast<std::size_t>(code.k_ldpc / 8));
    std::ranges::generate(information, [&] { return static_cast<std::uint8_t>(random()); });
    return information;
}

Bytes fecframe_bits(const Dvbs2Code& code, const Bytes& information) {
    Bytes fecframe(static_cast<std::size_t>(code.n / 8));
    LdpcEncoder(code).encode(information, fecframe);
    Bytes bits(8 * fecframe.size());
    unpack_bits(fecframe, bits);
    return bits;
}

// QPSK over white noise, as an ideal demapper hands it over.
std::vector<Llr> noisy_llrs(const Dvbs2Code& code, const Bytes& bits, double esn0_db, std::mt19937& random) {
    const double bit_snr = std::pow(10.0, esn0_db / 10) / 2;
    const double variance = 1 / (2 * bit_snr);
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    std::vector<Llr> llrs;
    for (const std::uint8_t bit : bits) {
        const double received = (bit ? -1 : 1) + noise(random);
        const double llr = std::round(llr_scale(code) * 2 * received / variance);
        llrs.push_back(static_cast<Llr>(std::clamp(llr, -127.0, 127.0)));
    }
    return llrs;
}

// EN 302 307-1, table 13: Es/N0 for QPSK, normal frames, by rising rate.
constexpr double kThresholdDb[] = {-2.35, -1.24, -0.30, 1.00, 2.23, 3.10, 4.03, 4.68, 5.18, 6.20, 6.42};

double threshold_db(const Dvbs2Code& code) {
    return kThresholdDb[static_cast<std::size_t>(code.rate)];
}

int wrong_bits(const Bytes& a, const Bytes& b) {
    return std::transform_reduce(a.begin(), a.end(), b.begin(), 0, std::plus<>{},
                                 [](auto x, auto y) { return std::popcount(static_cast<unsigned>(x ^ y)); });
}

struct RestoreTargets {
    ~RestoreTargets() { hwy::SetSupportedTargetsForTest(0); }
};

std::vector<std::int64_t> targets() {
    std::vector<std::int64_t> list;
    for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1)
        list.push_back(rest & -rest);
    return list;
}

}  // namespace

TEST_CASE("a frame without noise is known to be right before the first sweep, for every code") {
    std::mt19937 random(7);
    for (const Dvbs2Code& code : dvbs2_codes()) {
        CAPTURE(name(code.frame_size));
        CAPTURE(name(code.rate));
        const Bytes information = random_information(code, random);
        std::vector<Llr> llrs;
        for (const std::uint8_t bit : fecframe_bits(code, information)) llrs.push_back(bit ? -20 : 20);
        LdpcDecoder decoder(code);
        CHECK(decode(decoder, code, llrs) == Decoded{{0, true}, information});
    }
}

TEST_CASE("a single wrong bit is never taken for a codeword, on any target") {
    const RestoreTargets restore;
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r8_9);
    const Bytes zeros(static_cast<std::size_t>(code.k_ldpc / 8));
    constexpr std::size_t kStride = 7;  // meets every position of a vector
    for (const std::int64_t target : targets()) {
        CAPTURE(std::string(hwy::TargetName(target)));
        hwy::SetSupportedTargetsForTest(target);
        LdpcDecoder decoder(code);
        std::vector<Llr> llrs(static_cast<std::size_t>(code.n), 20);
        for (std::size_t bit = 0; bit < llrs.size(); bit += kStride) {
            CAPTURE(bit);
            llrs[bit] = -20;
            const Decoded decoded = decode(decoder, code, llrs);
            REQUIRE(decoded.result.iterations > 0);
            REQUIRE(decoded.information == zeros);
            llrs[bit] = 20;
        }
    }
}

TEST_CASE("every target gives the textbook decoder's bits and iterations, for every code") {
    const RestoreTargets restore;
    const auto all_targets = targets();
    std::mt19937 random(8);
    for (const Dvbs2Code& code : dvbs2_codes()) {
        CAPTURE(name(code.frame_size));
        CAPTURE(name(code.rate));
        const LdpcSettings settings{.max_iterations = 5, .fast_iterations = 2};
        const Bytes bits = fecframe_bits(code, random_information(code, random));
        // Good enough to converge or nearly so, and far too bad, with saturated values.
        for (const double esn0_db : {threshold_db(code) + 3, threshold_db(code) - 4}) {
            const std::vector<Llr> llrs = noisy_llrs(code, bits, esn0_db, random);
            const Decoded expected = TextbookDecoder(code, settings).decode(llrs);
            for (const std::int64_t target : all_targets) {
                CAPTURE(std::string(hwy::TargetName(target)));
                hwy::SetSupportedTargetsForTest(target);
                LdpcDecoder decoder(code, settings);
                CHECK(decode(decoder, code, llrs) == expected);
            }
        }
    }
}

TEST_CASE("arbitrary values, -128 among them, are decoded as the textbook does at any alignment") {
    const RestoreTargets restore;
    const auto all_targets = targets();
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r8_9);
    const LdpcSettings settings{.max_iterations = 4, .stop_early = false, .fast_iterations = 2};
    std::mt19937 random(9);
    std::vector<Llr> llrs(static_cast<std::size_t>(code.n) + 3);
    std::ranges::generate(llrs, [&] { return static_cast<Llr>(random()); });
    for (const std::size_t offset : {0u, 1u, 3u}) {
        const auto frame = std::span<const Llr>(llrs).subspan(offset, static_cast<std::size_t>(code.n));
        const Decoded expected = TextbookDecoder(code, settings).decode({frame.begin(), frame.end()});
        for (const std::int64_t target : all_targets) {
            hwy::SetSupportedTargetsForTest(target);
            LdpcDecoder decoder(code, settings);
            CHECK(decode(decoder, code, frame) == expected);
        }
    }
}

TEST_CASE("QPSK frames half a decibel above table 13 come out whole, for every code") {
    std::mt19937 random(10);
    for (const Dvbs2Code& code : dvbs2_codes()) {
        CAPTURE(name(code.frame_size));
        CAPTURE(name(code.rate));
        LdpcDecoder decoder(code);
        for (int frame = 0; frame < 3; ++frame) {
            const Bytes information = random_information(code, random);
            const auto llrs =
                noisy_llrs(code, fecframe_bits(code, information), threshold_db(code) + 0.5, random);
            const Decoded decoded = decode(decoder, code, llrs);
            CHECK(decoded.information == information);
        }
    }
}

TEST_CASE("noise alone does not converge, and the next frame does not suffer from it") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r1_2);
    std::mt19937 random(11);
    std::vector<Llr> noise(static_cast<std::size_t>(code.n));
    std::ranges::generate(noise, [&] { return static_cast<Llr>(random() % 41) - 20; });
    const Bytes information = random_information(code, random);
    const auto llrs = noisy_llrs(code, fecframe_bits(code, information), 2.0, random);
    LdpcDecoder fresh(code);
    LdpcDecoder used(code);
    CHECK(decode(used, code, noise).result == LdpcResult{150, false});
    LdpcDecoder copy = used;
    const Decoded expected = decode(fresh, code, llrs);
    CHECK(decode(used, code, llrs) == expected);
    CHECK(decode(copy, code, llrs) == expected);
}

TEST_CASE("what is wrong in the end is what came nearest to a codeword on the way") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_5);
    const LdpcSettings min_sum{.max_iterations = 50, .fast_iterations = 50};
    LdpcDecoder decoder(code, min_sum);
    std::mt19937 random(12);
    int nearly_right = 0;
    for (int frame = 0; frame < 200; ++frame) {
        const Bytes information = random_information(code, random);
        const auto llrs =
            noisy_llrs(code, fecframe_bits(code, information), threshold_db(code) + 0.2, random);
        const Decoded nearest = decode(decoder, code, llrs);
        if (nearest.result.converged) continue;
        nearly_right += wrong_bits(nearest.information, information) < 12;
        if (nearly_right == 1) CHECK(nearest == TextbookDecoder(code, min_sum).decode(llrs));
    }
    CHECK(nearly_right > 0);
}

TEST_CASE("sum-product brings home what min-sum does not") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_5);
    LdpcDecoder decoder(code), min_sum(code, {.max_iterations = 150, .fast_iterations = 150});
    std::mt19937 random(13);
    int right = 0, right_by_min_sum = 0;
    for (int frame = 0; frame < 20; ++frame) {
        const Bytes information = random_information(code, random);
        const auto llrs = noisy_llrs(code, fecframe_bits(code, information), 2.22, random);  // Eb/N0 1.5 dB
        right += decode(decoder, code, llrs).information == information;
        right_by_min_sum += decode(min_sum, code, llrs).information == information;
    }
    CHECK(right == 20);
    CHECK(right_by_min_sum < 15);
}

TEST_CASE("min-sum alone ends where sum-product would begin, and what it brings home is the same") {
    std::mt19937 random(15);
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_4);
    const Bytes information = random_information(code, random);
    LdpcDecoder whole(code), fast(code);
    Bytes out(information.size());
    for (const double over_db : {1.0, -3.0}) {
        const auto llrs =
            noisy_llrs(code, fecframe_bits(code, information), threshold_db(code) + over_db, random);
        const LdpcResult result = fast.decode_fast(llrs, out);
        CHECK(result.converged == (over_db > 0));
        CHECK((out == information) == result.converged);
        CHECK(result.iterations <= ldpc_fast_share({}, code));
        if (over_db > 0) CHECK(decode(whole, code, llrs) == Decoded{result, information});
    }
}

TEST_CASE("far over the threshold a frame with a piece of turned phase comes out whole, for every code") {
    std::mt19937 random(14);
    for (const Dvbs2Code& code : dvbs2_codes()) {
        CAPTURE(name(code.frame_size));
        CAPTURE(name(code.rate));
        LdpcDecoder decoder(code);
        const auto piece = static_cast<std::size_t>(code.ldpc_parity() / 15);
        for (const double over_db : {5.0, 8.0, 20.0}) {
            CAPTURE(over_db);
            const Bytes information = random_information(code, random);
            auto llrs =
                noisy_llrs(code, fecframe_bits(code, information), threshold_db(code) + over_db, random);
            for (Llr& llr : std::span(llrs).first(piece)) {
                if (random() % 2 == 0) llr = static_cast<Llr>(-llr);
            }
            CHECK(decode(decoder, code, llrs).information == information);
        }
    }
}

TEST_CASE("two decibels and more over its threshold a frame is decoded in a few iterations") {
    // Where LLRs were not halved, right decisions turned over in one frame of a hundred, some for good.
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_5);
    LdpcDecoder decoder(code);
    std::vector<std::uint8_t> information(static_cast<std::size_t>(code.k_ldpc / 8));
    std::mt19937 random(1);
    for (int frame = 0; frame < 1000; ++frame) {
        const auto llrs = noisy_llrs(code, frame % 2 ? 4.8 : 4.3, random);
        const LdpcResult result = decoder.decode(llrs, information);
        CHECK(result.converged);
        CHECK(result.iterations < 9);
    }
}

TEST_CASE("settings out of range are refused with their name") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r1_2);
    CHECK_THROWS_WITH_AS(LdpcDecoder(code, LdpcSettings{.max_iterations = 0}),
                         "LdpcSettings: max_iterations is 0, it must be at least 1", FecError);
    CHECK_THROWS_AS(LdpcDecoder(code, LdpcSettings{.fast_iterations = -1}), FecError);
}
