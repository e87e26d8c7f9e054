#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/carrier/internal/trellis_step.cpp"
#include "tidemill/dvbs2/carrier/internal/trellis_step.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dvbs2::internal::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes, of which every vector of states is full.
void step_all(const float* from, const MovePenalties& penalties, std::complex<float> emission,
              const PerState& turn_re, const PerState& turn_im, float* to) {
    const hn::CappedTag<float, 16> d;
    const auto emission_re = hn::Set(d, emission.real()), emission_im = hn::Set(d, emission.imag());
    for (int s = 0; s < kPhaseStates; s += static_cast<int>(hn::Lanes(d))) {
        auto best = hn::Add(hn::LoadU(d, from + s), hn::Set(d, penalties[0]));
        for (int move = 1; move <= kPhaseReach; ++move) {
            const auto either = hn::Max(hn::LoadU(d, from + s - move), hn::LoadU(d, from + s + move));
            const auto penalty = hn::Set(d, penalties[static_cast<std::size_t>(move)]);
            best = hn::Max(hn::Add(either, penalty), best);
        }
        // No fused multiply-add, which not all instruction sets have.
        const auto gain = hn::Add(hn::Mul(emission_re, hn::LoadU(d, turn_re.data() + s)),
                                  hn::Mul(emission_im, hn::LoadU(d, turn_im.data() + s)));
        hn::StoreU(hn::Add(best, gain), d, to + s);
    }
}

}  // namespace tidemill::dvbs2::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dvbs2::internal {

HWY_EXPORT(step_all);

void trellis_step(const float* from, const MovePenalties& penalties, std::complex<float> emission,
                  const PerState& turn_re, const PerState& turn_im, float* to) {
    HWY_DYNAMIC_DISPATCH(step_all)(from, penalties, emission, turn_re, turn_im, to);
}

}  // namespace tidemill::dvbs2::internal
#endif
