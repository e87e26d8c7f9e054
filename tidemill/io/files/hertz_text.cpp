#include "tidemill/io/files/hertz_text.hpp"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace tidemill::io {

std::string hertz_text(double hz) {
    static constexpr const char* kPrefixes[] = {"", "k", "M", "G"};
    // Six digits first: 999999.9 is a million.
    double size = std::isfinite(hz) ? std::strtod(fmt::format("{:.6g}", hz).c_str(), nullptr) : hz;
    int thousands = 0;
    for (; thousands < 3 && std::isfinite(size) && std::abs(size) >= 1000; ++thousands) size /= 1000;
    return fmt::format("{:.6g}{}", size, kPrefixes[thousands]);
}

std::string signed_hertz_text(double hz) {
    return (hz < 0 ? "" : "+") + hertz_text(hz);
}

}  // namespace tidemill::io
