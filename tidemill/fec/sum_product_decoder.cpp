#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/sum_product_decoder.cpp"
#include "tidemill/fec/sum_product_decoder.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// And this one after it.
#include <hwy/contrib/math/math-inl.h>

#include "tidemill/fec/bit_packing.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::fec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 8>;  // 360 is a multiple
using FloatVec = hn::Vec<Floats>;
constexpr Floats kFloats;
constexpr std::size_t kChecks = kCirculantSize;

// That a bit with a log-likelihood ratio of this magnitude is wrong.
HWY_INLINE FloatVec error_probability(FloatVec llr) {
    constexpr float kSure = 60;  // e^60 is still a float
    const auto one = hn::Set(kFloats, 1.0F);
    return hn::Div(one, hn::Add(one, hn::Exp(kFloats, hn::Min(hn::Abs(llr), hn::Set(kFloats, kSure)))));
}

// That exactly one of two bits is wrong.
HWY_INLINE FloatVec one_of(FloatVec p, FloatVec q) {
    return hn::NegMulAdd(hn::Add(p, p), q, hn::Add(p, q));
}

// Answers of all checks of a layer: `llrs` are what its edges bring, 360 each, and give way to their error
// probabilities.
void answer_checks(std::size_t edges, float* llrs, float* before, float* answers) {
    for (std::size_t check = 0; check < kChecks; check += hn::Lanes(kFloats)) {
        auto so_far = hn::Zero(kFloats), sign = so_far;
        for (std::size_t at = check; at < edges * kChecks; at += kChecks) {
            const auto llr = hn::LoadU(kFloats, llrs + at);
            const auto p = error_probability(llr);
            sign = hn::Xor(sign, llr);
            hn::StoreU(so_far, kFloats, before + at);
            hn::StoreU(hn::CopySign(p, llr), kFloats, llrs + at);
            so_far = one_of(so_far, p);
        }
        so_far = hn::Zero(kFloats);
        for (std::size_t at = check + edges * kChecks; at > check;) {
            at -= kChecks;
            const auto signed_p = hn::LoadU(kFloats, llrs + at);
            const auto wrong = one_of(hn::LoadU(kFloats, before + at), so_far);
            const auto right = hn::Sub(hn::Set(kFloats, 1.0F), wrong);
            const auto magnitude = hn::Max(hn::Log(kFloats, hn::Div(right, wrong)), hn::Zero(kFloats));
            hn::StoreU(hn::CopySign(magnitude, hn::Xor(sign, signed_p)), kFloats, answers + at);
            so_far = one_of(so_far, hn::Abs(signed_p));
        }
    }
}

}  // namespace
}  // namespace tidemill::fec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::fec {

HWY_EXPORT(answer_checks);

namespace {

constexpr auto kLayerChecks = static_cast<std::size_t>(kCirculantSize);

// Where in its column lies the bit that lane 0 checks.
std::size_t start_of(const Circulant& circulant) {
    return static_cast<std::size_t>(kCirculantSize - circulant.shift) % kLayerChecks;
}

std::vector<Circulant> edges_of(const LdpcCheckLayer& layer) {
    std::vector<Circulant> edges = layer.own;
    edges.insert(edges.end(), layer.shared.begin(), layer.shared.end());
    return edges;
}

}  // namespace

SumProductDecoder::SumProductDecoder(const Dvbs2Code& code, int max_iterations)
    : code_(code), max_iterations_(max_iterations), posteriors_(static_cast<std::size_t>(code.n)) {
    std::size_t edges = 0, most = 0;
    for (const LdpcCheckLayer& layer : ldpc_check_layers(code)) {
        layers_.push_back({edges_of(layer), layer.own.size()});
        most = std::max(most, layers_.back().edges.size());
        edges += layers_.back().edges.size();
    }
    messages_.resize(edges * kLayerChecks);
    for (auto* scratch : {&extrinsics_, &answers_, &forward_}) scratch->resize(most * kLayerChecks);
}

LdpcResult SumProductDecoder::decode(std::span<const float> llrs, std::span<std::uint8_t> information) {
    assert(llrs.size() == static_cast<std::size_t>(code_.n));
    load(llrs);
    int iterations = 0;
    bool converged = is_codeword();
    for (; !converged && iterations < max_iterations_; ++iterations) {
        float* messages = messages_.data();
        for (const Layer& layer : layers_) {
            process(layer, messages);
            messages += layer.edges.size() * kLayerChecks;
        }
        converged = is_codeword();
    }
    decide(information);
    return {iterations, converged};
}

void SumProductDecoder::load(std::span<const float> llrs) {
    std::ranges::fill(messages_, 0.0F);
    const auto k = static_cast<std::size_t>(code_.k_ldpc), q = static_cast<std::size_t>(code_.q());
    std::ranges::copy(llrs.first(k), posteriors_.begin());
    for (std::size_t parity = 0; parity < llrs.size() - k; ++parity)
        posteriors_[k + parity % q * kLayerChecks + parity / q] = llrs[k + parity];
}

// All checks of the layer see the posteriors from before it.
void SumProductDecoder::process(const Layer& layer, float* messages) {
    ask(layer, messages);
    HWY_DYNAMIC_DISPATCH(answer_checks)
    (layer.edges.size(), extrinsics_.data(), forward_.data(), answers_.data());
    if (is_first(layer)) answers_[open_lane()] = 0;
    for (std::size_t e = 0; e < layer.edges.size(); ++e) {
        const std::size_t start = start_of(layer.edges[e]);
        const auto bits = std::span(posteriors_).subspan(column_begin(layer.edges[e]), kLayerChecks);
        for (std::size_t lane = 0; lane < kLayerChecks; ++lane) {
            float& bit = bits[(start + lane) % kLayerChecks];
            bit += answers_[e * kLayerChecks + lane] - messages[e * kLayerChecks + lane];
            messages[e * kLayerChecks + lane] = answers_[e * kLayerChecks + lane];
        }
    }
}

void SumProductDecoder::ask(const Layer& layer, const float* messages) {
    constexpr float kSurelyZero = 60;
    for (std::size_t e = 0; e < layer.edges.size(); ++e) {
        float* to = extrinsics_.data() + e * kLayerChecks;
        const auto bits = std::span(posteriors_).subspan(column_begin(layer.edges[e]), kLayerChecks);
        std::ranges::rotate_copy(bits, bits.begin() + static_cast<std::ptrdiff_t>(start_of(layer.edges[e])),
                                 to);
        for (std::size_t lane = 0; lane < kLayerChecks; ++lane) to[lane] -= messages[e * kLayerChecks + lane];
    }
    if (is_first(layer)) extrinsics_[open_lane()] = kSurelyZero;
}

bool SumProductDecoder::is_codeword() const {
    std::array<bool, kLayerChecks> odd{};
    for (const Layer& layer : layers_) {
        odd = {};
        for (std::size_t e = 0; e < layer.edges.size(); ++e) {
            const std::size_t start = start_of(layer.edges[e]);
            const auto bits = std::span(posteriors_).subspan(column_begin(layer.edges[e]), kLayerChecks);
            for (std::size_t lane = 0; lane < kLayerChecks; ++lane)
                odd[lane] ^= bits[(start + lane) % kLayerChecks] < 0 &&
                             !(is_first(layer) && e * kLayerChecks + lane == open_lane());
        }
        if (std::ranges::count(odd, true) > 0) return false;
    }
    return true;
}

void SumProductDecoder::decide(std::span<std::uint8_t> information) const {
    std::vector<std::uint8_t> bits(static_cast<std::size_t>(code_.k_ldpc));
    for (std::size_t bit = 0; bit < bits.size(); ++bit) bits[bit] = posteriors_[bit] < 0;
    pack_bits(bits, information);
}

}  // namespace tidemill::fec
#endif
