#include "tidemill/fec/internal/galois_field.hpp"

namespace tidemill::fec {

// EN 302 307-1, tables 6a and 6b: the first minimal polynomials, 1+x^2+x^3+x^5+x^16 and 1+x+x^3+x^5+x^14.
const GaloisField& GaloisField::of_normal_frames() {
    static const GaloisField field(16, 0x1002D);
    return field;
}

const GaloisField& GaloisField::of_short_frames() {
    static const GaloisField field(14, 0x402B);
    return field;
}

GaloisField::GaloisField(int bits, unsigned primitive)
    : order_((1 << bits) - 1), exp_(2u << bits), log_(1u << bits), quadratic_root_(1u << bits) {
    unsigned value = 1;
    for (int power = 0; power < order_; ++power) {
        const auto index = static_cast<std::size_t>(power);
        exp_[index] = exp_[index + static_cast<std::size_t>(order_)] = static_cast<Element>(value);
        log_[value] = static_cast<std::uint16_t>(power);
        value = value << 1 ^ (value >> (bits - 1) & 1 ? primitive : 0);
    }
    for (int y = 2; y <= order_; ++y) {
        const auto element = static_cast<Element>(y);
        quadratic_root_[multiply(element, element) ^ element] = element;
    }
}

GaloisField::Element GaloisField::multiply(Element a, Element b) const {
    if (a == 0 || b == 0) return 0;
    return exp(log(a) + log(b));
}

GaloisField::Element GaloisField::divide(Element a, Element b) const {
    if (a == 0) return 0;
    return exp(log(a) + order_ - log(b));
}

}  // namespace tidemill::fec
