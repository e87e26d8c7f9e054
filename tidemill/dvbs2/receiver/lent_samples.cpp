#include "tidemill/dvbs2/receiver/lent_samples.hpp"

#include <algorithm>
#include <cstring>

namespace tidemill::dvbs2 {

LentSamples::LentSamples(dsp::SampleFormat format, std::optional<double> sample_rate_hz)
    : format_(format), sample_rate_hz_(sample_rate_hz) {}

std::size_t LentSamples::read(std::span<std::byte> to) {
    if (is_cancelled()) return 0;
    const bool from_kept = read_ < kept_.size();
    const std::span<const std::byte> from = from_kept ? std::span(kept_).subspan(read_) : lent_;
    const std::size_t sample = dsp::bytes_per_sample(format_);
    const std::size_t bytes = std::min(to.size() / sample * sample, from.size());
    if (bytes > 0) std::memcpy(to.data(), from.data(), bytes);
    if (from_kept)
        read_ += bytes;
    else
        lent_ = lent_.subspan(bytes);
    return bytes;
}

void LentSamples::take_back() {
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(read_));
    read_ = 0;
    kept_.insert(kept_.end(), lent_.begin(), lent_.end());
    lent_ = {};
}

}  // namespace tidemill::dvbs2
