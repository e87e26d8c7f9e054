#include "tidemill/dvbs2/front/front_strobes.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>

namespace tidemill::dvbs2 {

namespace {

// The sampling_instants of a run that lie in a part of the block that was erased.
void erase(const ErasedRuns::Run& erased, const StrobeRun& sampling_instants, std::span<Iq> symbols) {
    const auto count = static_cast<double>(sampling_instants.count);
    const auto strobe_behind = [&](double place) {
        return std::clamp(std::ceil((place - sampling_instants.first) / sampling_instants.step), 0.0, count);
    };
    const auto begin = static_cast<std::ptrdiff_t>(strobe_behind(double{erased.begin}));
    const auto end = static_cast<std::ptrdiff_t>(strobe_behind(double{erased.end}));
    std::fill(symbols.begin() + begin, symbols.begin() + std::max(begin, end), Iq{});
}

StrobeMark mark_of(const StrobeRun& run, const StrobePlan& plan, std::uint32_t symbol) {
    const double first_pair = static_cast<double>(plan.first_subblock) * kSubblockSymbols - kPairsBefore;
    return {symbol, run.leaps, first_pair + run.first / 2, run.step / 2};
}

}  // namespace

void read_symbols(const dsp::SamplingInterpolator& interpolator, const FilteredBlock& block,
                  const StrobePlan& plan, SymbolBlock& out) {
    assert(block.info.block == plan.block && block.info.subblocks == plan.runs);
    out.block = plan.block;
    out.restart = plan.restart;
    out.frequency = plan.frequency;
    out.count = 0;
    out.marks = plan.runs;
    for (std::uint32_t r = 0; r < plan.runs; ++r) {
        const StrobeRun& run = plan.run[r];
        out.mark[r] = mark_of(run, plan, out.count);
        interpolator.read({block.even, block.odd}, run.first, run.step, run.count,
                          std::span(out.symbols).subspan(out.count));
        for (const ErasedRuns::Run& erased : block.erased.all())
            erase(erased, run, std::span(out.symbols).subspan(out.count, run.count));
        out.count += run.count;
    }
    const double turned_from =
        std::clamp(plan.turned_from + kStrobeLead / 2, 0.0, static_cast<double>(out.count));
    out.turned_from = static_cast<std::uint32_t>(std::lround(turned_from));
}

}  // namespace tidemill::dvbs2
