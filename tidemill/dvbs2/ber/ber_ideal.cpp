#include "tidemill/dvbs2/ber/ber_ideal.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/ber/test_bbframe.hpp"

namespace tidemill::dvbs2 {

namespace {

// Each frame has its own stretch of the noise, longer than any frame.
constexpr std::uint64_t kNoisePerFrame = 1 << 16;
static_assert(kMaxDataSymbols <= kNoisePerFrame);

}  // namespace

BerIdealLink::BerIdealLink(const Pls& pls, double esn0_db, std::uint64_t seed)
    : Module("link"),
      pls_(pls),
      noise_variance_(static_cast<float>(std::pow(10.0, -esn0_db / 10))),
      seed_(seed),
      modulator_(pls, 0) {}

void BerIdealLink::send_frame(Frame f) const {
    const auto bbframe = f[sent].first(modulator_.bbframe_bytes());
    make_test_bbframe(seed_, f.number(), bbframe);
    const auto symbols = modulator_.data_symbols(bbframe);
    std::ranges::copy(symbols, f[data].begin());
    dsp::add_gaussian_noise(seed_, f.number() * kNoisePerFrame, std::sqrt(noise_variance_),
                            f[data].first(symbols.size()));
    f[info] = {};
    f[info].pls = pls_;
    f[quality][0] = {1, noise_variance_};
}

void BerCompare::compare_frame(Frame f) const {
    const auto bytes = static_cast<std::size_t>(code_of(f[info].pls)->k_bch) / 8;
    BerCounts& found = f[counts][0];
    found = {.frames = 1, .bits = 8 * bytes};
    found.bit_errors = differing_bits(f[sent].first(bytes), f[codeword].first(bytes));
    found.frame_errors = found.bit_errors > 0 || !f[bch][0].ok;
    found.undetected = found.bit_errors > 0 && f[bch][0].ok;
    found.ldpc_iterations = static_cast<std::uint64_t>(f[ldpc][0].iterations);
}

}  // namespace tidemill::dvbs2
