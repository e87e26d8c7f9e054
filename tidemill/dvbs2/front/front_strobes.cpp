#include "tidemill/dvbs2/front/front_strobes.hpp"

#include <cassert>
#include <span>

namespace tidemill::dvbs2 {

void read_symbols(const dsp::StrobeInterpolator& interpolator, const FilteredBlock& block,
                  const StrobePlan& plan, SymbolBlock& out) {
    assert(block.info.block == plan.block && block.info.subblocks == plan.runs);
    out.block = plan.block;
    out.restart = plan.restart;
    out.frequency = plan.frequency;
    out.count = 0;
    for (std::uint32_t r = 0; r < plan.runs; ++r) {
        const StrobeRun& run = plan.run[r];
        interpolator.read({block.even, block.odd}, run.first, run.step, run.count,
                          std::span(out.symbols).subspan(out.count));
        out.count += run.count;
    }
}

}  // namespace tidemill::dvbs2
