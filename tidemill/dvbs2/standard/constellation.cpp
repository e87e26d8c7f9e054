#include "tidemill/dvbs2/standard/constellation.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace tidemill::dvbs2 {

namespace {

struct Place {
    std::uint8_t ring;   // 0 is the innermost
    std::uint8_t angle;  // in steps of pi / 24
};

// EN 302 307-1, figures 9 to 12, in order of the label.
constexpr std::array<Place, 4> kQpsk{{{0, 6}, {0, 42}, {0, 18}, {0, 30}}};
constexpr std::array<Place, 8> k8psk{{{0, 6}, {0, 0}, {0, 24}, {0, 30}, {0, 12}, {0, 42}, {0, 18}, {0, 36}}};
constexpr std::array<Place, 16> k16apsk{{{1, 6},
                                         {1, 42},
                                         {1, 18},
                                         {1, 30},
                                         {1, 2},
                                         {1, 46},
                                         {1, 22},
                                         {1, 26},
                                         {1, 10},
                                         {1, 38},
                                         {1, 14},
                                         {1, 34},
                                         {0, 6},
                                         {0, 42},
                                         {0, 18},
                                         {0, 30}}};
constexpr std::array<Place, 32> k32apsk{
    {{1, 6},  {1, 10}, {1, 42}, {1, 38}, {1, 18}, {1, 14}, {1, 30}, {1, 34}, {2, 3},  {2, 9},  {2, 42},
     {2, 36}, {2, 18}, {2, 12}, {2, 27}, {2, 33}, {1, 2},  {0, 6},  {1, 46}, {0, 42}, {1, 22}, {0, 18},
     {1, 26}, {0, 30}, {2, 0},  {2, 6},  {2, 45}, {2, 39}, {2, 21}, {2, 15}, {2, 24}, {2, 30}}};

std::span<const Place> places_of(Modulation modulation) {
    switch (modulation) {
        case Modulation::qpsk:
            return kQpsk;
        case Modulation::psk8:
            return k8psk;
        case Modulation::apsk16:
            return k16apsk;
        case Modulation::apsk32:
            break;
    }
    return k32apsk;
}

std::vector<dsp::Iq> points_of(const Modcod& modcod) {
    const auto places = places_of(modcod.modulation);
    const std::array<double, 3> ratio{1.0, modcod.gamma1, modcod.gamma2};
    double energy = 0;
    for (const Place& place : places) {
        energy += ratio[place.ring] * ratio[place.ring];
    }
    const double inner = std::sqrt(static_cast<double>(places.size()) / energy);
    std::vector<dsp::Iq> points;
    for (const Place& place : places) {
        points.emplace_back(std::polar(inner * ratio[place.ring], place.angle * std::numbers::pi / 24));
    }
    return points;
}

}  // namespace

std::span<const dsp::Iq> constellation_of(const Modcod& modcod) {
    static const auto kPoints = [] {
        std::array<std::vector<dsp::Iq>, 28> all;
        for (const Modcod& row : all_modcods()) {
            all[static_cast<std::size_t>(row.number - 1)] = points_of(row);
        }
        return all;
    }();
    return kPoints[static_cast<std::size_t>(modcod.number - 1)];
}

}  // namespace tidemill::dvbs2
