#pragma once

#include <cstdint>
#include <vector>

namespace tidemill::fec {

/// GF(2^m) for m = 14 or 16 by logarithm tables; alpha is a root of the BCH codes' first minimal polynomial.
class GaloisField {
  public:
    using Element = std::uint16_t;

    /// The one immutable instance of a field, made on first use.
    static const GaloisField& of_short_frames();
    static const GaloisField& of_normal_frames();

    int order() const { return order_; }
    /// alpha to a power of 0 to 2 order() - 1.
    Element exp(int power) const { return exp_[static_cast<std::size_t>(power)]; }
    /// The discrete logarithm of an element other than 0.
    int log(Element element) const { return log_[element]; }
    Element multiply(Element a, Element b) const;
    Element divide(Element a, Element b) const;
    /// A y with y^2 + y = c, or 0 when there is none (c other than 0).
    Element quadratic_root(Element c) const { return quadratic_root_[c]; }

  private:
    GaloisField(int bits, unsigned primitive);

    int order_;
    std::vector<Element> exp_;
    std::vector<std::uint16_t> log_;
    std::vector<Element> quadratic_root_;
};

}  // namespace tidemill::fec
