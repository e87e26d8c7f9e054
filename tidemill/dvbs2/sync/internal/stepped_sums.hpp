#pragma once

#include <complex>
#include <vector>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

/// The sum of complex numbers of which each turns by its own lag, at one frequency offset after the other:
/// a sine and a cosine for a number, and not for each offset.
class SteppedSums {
  public:
    /// In cycles per unit of the lags.
    SteppedSums(double first_offset, double step) : first_offset_(first_offset), step_(step) {}

    void add(std::complex<double> number, double lag) {
        const double radians = -dsp::kTwoPi * lag;
        parts_.push_back({dsp::product(number, std::polar(1.0, radians * first_offset_)),
                          std::polar(1.0, radians * step_)});
    }

    /// At the first offset, then a step further each time.
    std::complex<double> next() {
        std::complex<double> sum{};
        for (Part& part : parts_) {
            sum += part.number;
            part.number = dsp::product(part.number, part.turn);
        }
        return sum;
    }

  private:
    struct Part {
        std::complex<double> number, turn;
    };

    double first_offset_, step_;
    std::vector<Part> parts_;
};

}  // namespace tidemill::dvbs2::internal
