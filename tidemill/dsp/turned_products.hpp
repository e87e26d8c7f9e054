#pragma once

#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Sums of turned_products(): of all, and of |x|^2.
struct ProductSums {
    Iq sum{};
    float energy = 0;
};

/// products[n] = x[n] factors[n] turns[n]; spans of equal length.
ProductSums turned_products(std::span<const Iq> x, std::span<const Iq> factors, std::span<const Iq> turns,
                            std::span<Iq> products);

}  // namespace tidemill::dsp
