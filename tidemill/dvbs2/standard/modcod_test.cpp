#include "tidemill/dvbs2/standard/modcod.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {
namespace {

TEST_CASE("modcod: the signalled number and the pair of modulation and rate name the same row") {
    for (const Modcod& modcod : all_modcods()) {
        CHECK(find_modcod(modcod.number) == &modcod);
        CHECK(find_modcod(modcod.modulation, modcod.rate) == &modcod);
        CHECK(modcod.has_short == (modcod.rate != CodeRate::r9_10));
    }
    CHECK(find_modcod(0) == nullptr);
    CHECK(find_modcod(29) == nullptr);
    CHECK(find_modcod(Modulation::psk8, CodeRate::r1_4) == nullptr);
}

TEST_CASE("modcod: PLFRAME lengths and pilot blocks are those of the standard") {
    struct Row {
        int modcod;
        FrameSize size;
        int blocks, plain, with_pilots;
    };
    for (const Row& row : std::vector<Row>{{7, FrameSize::normal, 22, 32490, 33282},
                                           {7, FrameSize::short_, 5, 8190, 8370},
                                           {13, FrameSize::normal, 14, 21690, 22194},
                                           {13, FrameSize::short_, 3, 5490, 5598},
                                           {19, FrameSize::normal, 11, 16290, 16686},
                                           {19, FrameSize::short_, 2, 4140, 4212},
                                           {25, FrameSize::normal, 8, 13050, 13338},
                                           {25, FrameSize::short_, 2, 3330, 3402}}) {
        CAPTURE(row.modcod);
        CHECK(layout_of({row.modcod, row.size, false}).symbols == row.plain);
        const FrameLayout layout = layout_of({row.modcod, row.size, true});
        CHECK(layout.symbols == row.with_pilots);
        CHECK(layout.pilot_blocks == row.blocks);
        CHECK(FrameLayout::pilot_start(row.blocks - 1) + kPilotBlockSymbols < layout.symbols);
    }
    CHECK(layout_of({0, FrameSize::normal, true}).symbols == 3330);
}

TEST_CASE("modcod: a PLS code survives packing, and undefined ones are known") {
    int undefined = 0;
    for (int code = 0; code < 128; ++code) {
        CHECK(Pls::from_code(code).code() == code);
        undefined += Pls::from_code(code).is_defined() ? 0 : 1;
    }
    CHECK(undefined == 3 * 4 + 4 * 2);  // three reserved numbers, four rates 9/10 with short frames
}

TEST_CASE("modcod: only 8PSK 3/5 reads its columns backwards") {
    for (const Modcod& modcod : all_modcods()) {
        const Interleaver interleaver = interleaver_of(modcod);
        CHECK(interleaver.columns ==
              (modcod.modulation == Modulation::qpsk ? 1 : bits_per_symbol(modcod.modulation)));
        CHECK(std::is_sorted(interleaver.read_order, interleaver.read_order + interleaver.columns) ==
              (modcod.number != 12));
    }
}

}  // namespace
}  // namespace tidemill::dvbs2
