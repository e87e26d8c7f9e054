#include "tidemill/dvbs2/front/front_strobes.hpp"

#include <memory>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/front/front_filter.hpp"

namespace tidemill::dvbs2 {

TEST_CASE("strobes: symbols about a run of zeroed samples are exactly 0, and no others") {
    const FrontGeometry geometry({2, 1, 0.2, kMaxBlockSamples});
    const auto block = std::make_unique<FilteredBlock>();
    const auto symbols = std::make_unique<SymbolBlock>();
    block->even.fill({1, 1});
    block->odd.fill({1, 1});
    block->info.block = 3;
    block->info.first_subblock = geometry.subblocks_before(3);
    block->info.subblocks = 2;
    // Where the block's first sample lies in the window, and a run of 20 samples some symbols behind it.
    const auto first =
        static_cast<std::size_t>(block->info.first_subblock * 2 * kSubblockSymbols - 2 * kPairsBefore -
                                 3 * std::int64_t{kMaxBlockSamples} + geometry.history_samples());
    const std::size_t begin = first + 2 * kPairsBefore + 1400;
    FrontFilter(geometry).mark_erased(std::vector{PulseBlanker::Run{begin, begin + 20}}, *block);
    StrobePlan plan{.block = 3, .runs = 2};
    plan.run[0] = {.first = 2.0 * kPairsBefore, .step = 2, .count = kSubblockSymbols};
    plan.run[1] = {.first = 2.0 * (kPairsBefore + kSubblockSymbols), .step = 2, .count = kSubblockSymbols};
    read_symbols(dsp::SamplingInterpolator(0.2), *block, plan, *symbols);
    REQUIRE(symbols->count == 2 * kSubblockSymbols);
    for (std::uint32_t n = 0; n < symbols->count; ++n)
        REQUIRE((symbols->symbols[n] == Iq{}) == (n >= 699 && n <= 710));
}

}  // namespace tidemill::dvbs2
