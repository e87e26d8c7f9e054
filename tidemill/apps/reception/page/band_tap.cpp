#include "tidemill/apps/reception/page/band_tap.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "tidemill/dsp/power_spectrum.hpp"

namespace tidemill::cli {

namespace {

constexpr std::size_t kBandBins = 512;
constexpr std::size_t kBandSamples = 16 * kBandBins;

}  // namespace

BandTap::BandTap(std::unique_ptr<io::SampleSource> from)
    : from_(std::move(from)), copied_(kBandSamples * dsp::bytes_per_sample(from_->format())) {}

std::size_t BandTap::read(std::span<std::byte> to) {
    const std::size_t got = from_->read(to);
    if (state_.load(std::memory_order_acquire) != wanted)
        return got;  // pairs with the release of spectrum_db()
    const std::size_t some = std::min(got, copied_.size() - filled_);
    std::copy_n(to.begin(), some, copied_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += some;
    // Pairs with the acquire of spectrum_db().
    if (filled_ == copied_.size()) state_.store(taken, std::memory_order_release);
    return got;
}

Json BandTap::spectrum_db() {
    if (state_.load(std::memory_order_acquire) != taken) return Json::array();
    std::vector<dsp::Iq> samples(kBandSamples);
    dsp::convert_samples(from_->format(), copied_, samples);
    filled_ = 0;
    state_.store(wanted, std::memory_order_release);
    dsp::PowerSpectrum spectrum(kBandBins);
    spectrum.add(samples);
    return spectrum_json(spectrum.power());
}

Json spectrum_json(std::span<const float> power) {
    Json db = Json::array();
    for (const float bin : power) db.push_back(std::round(100 * std::log10(std::max(bin, 1e-12F))) / 10);
    return db;
}

}  // namespace tidemill::cli
