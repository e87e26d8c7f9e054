#include "tidemill/dvbs2/receiver/rx_frames.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/standard/testing/test_frames.hpp"
#include "tidemill/runtime/graph/testbench.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

// Where the frames with data start behind a gap, of a stream in which none is missing.
std::vector<std::uint64_t> gaps_of(std::span<const Iq> stream) {
    const PlScrambler scrambler(0);
    Testbench<RxFrameSync> bench(scrambler, false);
    std::vector<std::uint64_t> gaps;
    const auto keep = [&](Flow flow) {
        for (; flow == Flow::again; flow = bench.step()) {
            if (bench.read(bench->gap)[0] != 0) gaps.push_back(bench.read(bench->info).start);
        }
    };
    SymbolBlock block;
    for (std::size_t at = 0; at < stream.size(); at += block.count) {
        block.count = static_cast<std::uint32_t>(std::min<std::size_t>(8000, stream.size() - at));
        std::ranges::copy(stream.subspan(at, block.count), block.symbols.begin());
        bench.feed(bench->symbols, std::span(&block, 1));
        keep(bench.step());
    }
    return gaps;
}

TEST_CASE("rx_frames: where a dummy frame is known by its place alone, something may be lost") {
    constexpr std::size_t kPairs = 8, kLength = 8370, kDummyLength = 3330;
    std::mt19937 random(1);
    std::vector<TestFrame> frames;
    for (std::size_t i = 0; i < kPairs; ++i) {
        frames.push_back(make_frame({7, FrameSize::short_, true}, PlScrambler(0), random));
        frames.push_back(make_frame({}, PlScrambler(0), random));
    }
    const auto stream = transmit(join(frames), {.esn0_db = 8}, random);
    const std::size_t dummy = 4 * (kLength + kDummyLength) + kLength;
    const auto without = [&](std::size_t symbols) {
        auto hit = stream;
        std::fill_n(hit.begin() + dummy, symbols, Iq{});
        return hit;
    };
    CHECK(gaps_of(stream).empty());
    CHECK(gaps_of(without(kHeaderSymbols)).empty());  // its data show
    CHECK(gaps_of(without(kDummyLength)) == std::vector<std::uint64_t>{dummy + kDummyLength});
}

}  // namespace
}  // namespace tidemill::dvbs2
