#include "tidemill/fec/ldpc_decoder.hpp"

#include <algorithm>
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
#include "tidemill/fec/internal/ldpc_layers.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"

using namespace tidemill::fec;

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Decoded {
    LdpcResult result;
    Bytes information;

    bool operator==(const Decoded&) const = default;
};

// Layered min-sum check by check in plain integers: what the vectorised decoder must equal bit for bit.
class TextbookDecoder {
  public:
    TextbookDecoder(const Dvbs2Code& code, const LdpcSettings& settings)
        : code_(code), settings_(settings), checks_(static_cast<std::size_t>(code.ldpc_parity())) {
        const LdpcLayers layers(code);
        for (int check = 0; check < code.ldpc_parity(); ++check) {
            std::vector<Edge>& edges = checks_[static_cast<std::size_t>(check)];
            const int lane = check / code.q();
            for (const Circulant& circulant : layers[check % code.q()]) {
                const int bit = (lane - circulant.shift + kCirculantSize) % kCirculantSize;
                edges.push_back({static_cast<std::size_t>(kCirculantSize * circulant.column + bit), 0});
            }
            edges.push_back({static_cast<std::size_t>(code.k_ldpc + check), 0});
            if (check > 0) edges.push_back({static_cast<std::size_t>(code.k_ldpc + check - 1), 0});
        }
    }

    Decoded decode(const std::vector<Llr>& llrs) {
        posterior_.assign(llrs.begin(), llrs.end());
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
        for (int sweep = 0; sweep < settings_.max_iterations; ++sweep) {
            if (settings_.stop_early && converged()) return {{sweep, true}, nearest};
            for (int layer = 0; layer < code_.q(); ++layer) process(layer);
        }
        const bool right = converged();
        return {{settings_.max_iterations, right}, nearest.empty() ? decisions() : nearest};
    }

  private:
    struct Edge {
        std::size_t bit;
        int message;
    };

    static int saturated(int value) { return std::clamp(value, -128, 127); }

    // All checks of a layer see the posteriors from before it. A bit in one of them takes its extrinsic value
    // and the new message; a bit in several adds up the changes of its messages, edge by edge.
    void process(int layer) {
        const std::vector<int> before = posterior_;
        std::vector<int> uses(posterior_.size());
        std::vector<std::vector<int>> messages;
        for (int lane = 0; lane < kCirculantSize; ++lane) {
            const std::vector<Edge>& edges = checks_[index(layer, lane)];
            for (const Edge& edge : edges) ++uses[edge.bit];
            messages.push_back(new_messages(edges, before));
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

    std::vector<int> new_messages(const std::vector<Edge>& edges, const std::vector<int>& before) const {
        std::vector<int> extrinsics;
        for (const Edge& edge : edges) extrinsics.push_back(saturated(before[edge.bit] - edge.message));
        std::vector<int> messages;
        for (std::size_t e = 0; e < edges.size(); ++e) {
            int smallest = kLdpcMagnitudeCap;
            bool negative = false;
            for (std::size_t other = 0; other < edges.size(); ++other) {
                if (other == e) continue;
                smallest = std::min(smallest, std::abs(extrinsics[other]));
                negative ^= extrinsics[other] < 0;
            }
            const int magnitude = std::max(smallest - kLdpcOffset, 0);
            messages.push_back(negative ? -magnitude : magnitude);
        }
        return messages;
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
        LdpcSettings settings;
        settings.max_iterations = 4;
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
    LdpcSettings settings;
    settings.max_iterations = 3;
    settings.stop_early = false;
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
    CHECK(decode(used, code, noise).result == LdpcResult{50, false});
    LdpcDecoder copy = used;
    const Decoded expected = decode(fresh, code, llrs);
    CHECK(decode(used, code, llrs) == expected);
    CHECK(decode(copy, code, llrs) == expected);
}

TEST_CASE("where min-sum is led astray, what came nearest to a codeword remains") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_5);
    std::mt19937 random(8555);  // one of 10,000 frames: three wrong bits at best, thousands in the end
    const Bytes information = random_information(code, random);
    const auto llrs = noisy_llrs(code, fecframe_bits(code, information), threshold_db(code) + 0.3, random);
    const std::vector<LdpcAttempt> once{{50, 1.0}};
    LdpcDecoder decoder(code, {.attempts = once});
    LdpcDecoder to_the_end(code, {.stop_early = false, .attempts = once});
    const Decoded nearest = decode(decoder, code, llrs);
    CHECK_FALSE(nearest.result.converged);
    CHECK(wrong_bits(nearest.information, information) == 3);
    CHECK(wrong_bits(decode(to_the_end, code, llrs).information, information) > 1000);
    CHECK(nearest == TextbookDecoder(code, {.attempts = once}).decode(llrs));
}

TEST_CASE("several attempts share the iterations, and the last one takes what is left") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_5);
    REQUIRE(ldpc_attempts(code).size() > 1);
    std::mt19937 random(12);
    std::vector<Llr> noise(static_cast<std::size_t>(code.n));
    std::ranges::generate(noise, [&] { return static_cast<Llr>(random() % 41) - 20; });
    for (const int iterations : {1, 24, 30, 50, 80}) {
        LdpcDecoder decoder(code, {.max_iterations = iterations});
        CHECK(decode(decoder, code, noise).result == LdpcResult{iterations, false});
    }
}

TEST_CASE("an attempt begins anew, with the LLRs times its factor") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_5);
    std::mt19937 random(13);
    const Bytes information = random_information(code, random);
    const auto llrs = noisy_llrs(code, fecframe_bits(code, information), 2.5, random);
    std::vector<Llr> halved(llrs);
    for (Llr& llr : halved) llr = static_cast<Llr>(std::round(0.5 * llr));
    const std::vector<LdpcAttempt> once{{50, 1.0}};
    const std::vector<LdpcAttempt> twice{{2, 1.0}, {48, 0.5}};
    LdpcDecoder half(code, {.max_iterations = 48, .attempts = once});
    LdpcDecoder both(code, {.attempts = twice});
    Decoded expected = decode(half, code, halved);
    REQUIRE(expected.result.converged);
    expected.result.iterations += 2;
    CHECK(decode(both, code, llrs) == expected);
}

TEST_CASE("settings out of range are refused with their name") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r1_2);
    CHECK_THROWS_WITH_AS(LdpcDecoder(code, LdpcSettings{.max_iterations = 0}),
                         "LdpcDecoder: max_iterations is 0, it must be at least 1", FecError);
}
