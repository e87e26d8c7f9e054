#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/testing/tuned_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

std::vector<Beside> all_neighbours(double ratio, double spacing, double rolloff) {
    std::vector<Beside> all;
    for (const double level_db : {6.0, 20.0})
        for (const auto& [below, above] : {std::pair(0, 1), std::pair(1, 0), std::pair(1, 1)})
            all.push_back({ratio, rolloff, spacing, level_db, below, above});
    return all;
}

}  // namespace

// EN 302 307-1 has these roll-offs; at 1.25 symbol rates those of 0.25 touch.
TEST_CASE("neighbours: of +6 and +20 dB, on either side or both, at any rate: no packet, next to no loss") {
    double worst_db = -1e9;
    std::string worst, table;
    std::size_t combinations = 0;
    for (const auto& [spacing, rolloff] :
         {std::pair(1.25, 0.20), std::pair(1.25, 0.25), std::pair(1.4, 0.35)}) {
        for (const double ratio : {2.5, 3.3, 4.0, 6.7, 8.0, 12.5, 20.0}) {
            // Alone, through a tuner, with the same noise.
            const ReceivedBeside alone = receive_beside({.ratio = ratio, .rolloff = rolloff});
            for (const Beside& beside : all_neighbours(ratio, spacing, rolloff)) {
                const ReceivedBeside received = receive_beside(beside);
                const double loss_db = alone.esn0_db - received.esn0_db;
                const std::string name = fmt::format(
                    "{:4.1f} samples a symbol, {:.2f} at roll-off {:.2f}, {:+3.0f} dB, {} below, {} above",
                    ratio, spacing, rolloff, beside.level_db, beside.below, beside.above);
                table += fmt::format("{}: {:.1f} frames at the ends, {} bad, {:.3f} dB\n", name,
                                     received.frames_lost, received.frames_bad, loss_db);
                CAPTURE(name);
                CHECK(received.frames_lost < 4);
                CHECK(received.frames_bad == 0);
                CHECK(loss_db <= 0.02);
                ++combinations;
                if (loss_db > worst_db) worst = name;
                worst_db = std::max(worst_db, loss_db);
            }
        }
    }
    MESSAGE(table << combinations << " combinations; the worst, " << worst << ", loses " << worst_db
                  << " dB");
}

}  // namespace tidemill::dvbs2
