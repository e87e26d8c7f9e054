#include "tidemill/dvbs2/tuner/read_all.hpp"

namespace tidemill::dvbs2 {

std::size_t read_all(io::SampleSource& source, std::span<std::byte> to) {
    std::size_t bytes = 0;
    while (bytes < to.size()) {
        const std::size_t got = source.read(to.subspan(bytes));
        if (got == 0) break;
        bytes += got;
    }
    return bytes;
}

}  // namespace tidemill::dvbs2
