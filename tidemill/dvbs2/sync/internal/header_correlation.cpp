#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/sync/internal/header_correlation.cpp"
#include "tidemill/dvbs2/sync/internal/header_correlation.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dvbs2/standard/pl_header.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dvbs2::internal::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
hn::Vec<D> sum_of(D d, const float* plane, const HeaderTaps::Part& part) {
    auto sum = hn::Zero(d);
    int k = 0;
    for (; k < part.plus; ++k) {
        sum = hn::Add(sum, hn::LoadU(d, plane + part.offsets[static_cast<std::size_t>(k)]));
    }
    for (; k < part.count; ++k) {
        sum = hn::Sub(sum, hn::LoadU(d, plane + part.offsets[static_cast<std::size_t>(k)]));
    }
    return sum;
}

template <class D>
void correlate_some(D d, const float* re, const float* im, const HeaderTaps& taps, float* metric) {
    const auto sof_re = sum_of(d, re, taps.sof);
    const auto sof_im = sum_of(d, im, taps.sof);
    const auto pls_re = sum_of(d, re, taps.pls);
    const auto pls_im = sum_of(d, im, taps.pls);
    const auto norm = [](auto x, auto y) HWY_ATTR { return hn::MulAdd(x, x, hn::Mul(y, y)); };
    hn::StoreU(hn::Max(norm(hn::Add(sof_re, pls_re), hn::Add(sof_im, pls_im)),
                       norm(hn::Sub(sof_re, pls_re), hn::Sub(sof_im, pls_im))),
               d, metric);
}

void correlate(const float* re, const float* im, const HeaderTaps& taps, float* metric, std::size_t count) {
    const hn::ScalableTag<float> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        correlate_some(d, re + i, im + i, taps, metric + i);
    }
    const hn::CappedTag<float, 1> one;
    for (; i < count; ++i) {
        correlate_some(one, re + i, im + i, taps, metric + i);
    }
}

}  // namespace tidemill::dvbs2::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dvbs2::internal {

HWY_EXPORT(correlate);

namespace {

HeaderTaps::Part part_of(int first, int step, int count) {
    const auto header = header_symbols(0);
    HeaderTaps::Part part{{}, 0, count};
    int minus = count;
    for (int i = 0; i < count; ++i) {
        const auto k = static_cast<std::size_t>(first + i * step);
        const bool positive = (header[k + 1] * std::conj(header[k])).imag() > 0;
        part.offsets[static_cast<std::size_t>(positive ? part.plus++ : --minus)] = static_cast<int>(k);
    }
    return part;
}

dsp::Iq sum_at(std::span<const float> re, std::span<const float> im, const HeaderTaps::Part& part) {
    dsp::Iq sum{};
    for (int i = 0; i < part.count; ++i) {
        const auto k = static_cast<std::size_t>(part.offsets[static_cast<std::size_t>(i)]);
        sum += i < part.plus ? dsp::Iq{re[k], im[k]} : dsp::Iq{-re[k], -im[k]};
    }
    return sum;
}

}  // namespace

const HeaderTaps& header_taps() {
    // The second symbol of each PLS pair is the first one or its inverse, by the pilot bit alone.
    static const HeaderTaps kTaps{part_of(0, 1, kSofSymbols - 1), part_of(kSofSymbols, 2, kPlsSymbols / 2)};
    return kTaps;
}

void multiply_neighbours(std::span<const dsp::Iq> symbols, std::span<float> re, std::span<float> im) {
    assert(re.size() == symbols.size() && im.size() == symbols.size());
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
        const dsp::Iq a = symbols[i];
        const dsp::Iq b = symbols[i + 1];
        re[i] = a.real() * b.real() + a.imag() * b.imag();
        im[i] = a.real() * b.imag() - a.imag() * b.real();
    }
    re.back() = im.back() = 0;
}

HeaderSums correlate_at(std::span<const float> re, std::span<const float> im) {
    return {sum_at(re, im, header_taps().sof), sum_at(re, im, header_taps().pls)};
}

float correlate_headers(std::span<const float> re, std::span<const float> im, std::span<float> metric) {
    assert(re.size() == metric.size() + kHeaderSymbols - 1 && im.size() == re.size());
    HWY_DYNAMIC_DISPATCH(correlate)(re.data(), im.data(), header_taps(), metric.data(), metric.size());
    double energy = 0;
    for (std::size_t i = 0; i < re.size(); ++i) {
        energy += static_cast<double>(re[i] * re[i] + im[i] * im[i]);
    }
    return static_cast<float>(energy / static_cast<double>(re.size()));
}

}  // namespace tidemill::dvbs2::internal
#endif
