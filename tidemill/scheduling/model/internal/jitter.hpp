#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace tidemill::internal {

/// Well mixed bits of a number (splitmix64), so that a frame's jitter depends on nothing but its place.
inline std::uint64_t mixed(std::uint64_t bits) {
    bits += 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/// Above 0, at most 1.
inline double uniform(std::uint64_t bits) {
    return static_cast<double>((mixed(bits) >> 11) + 1) * 0x1p-53;
}

/// Log-normal with mean 1: times never fall below zero and now and then are much too long.
inline double jitter_factor(double deviation, std::uint64_t seed, std::uint64_t who, std::uint64_t when) {
    if (deviation == 0) return 1;
    const std::uint64_t place = mixed(mixed(mixed(seed) + who) + when);
    const double normal =
        std::sqrt(-2 * std::log(uniform(place))) * std::cos(2 * std::numbers::pi * uniform(place + 1));
    const double variance = std::log1p(deviation * deviation);
    return std::exp(std::sqrt(variance) * normal - variance / 2);
}

}  // namespace tidemill::internal
