#include "tidemill/dvbs2/carrier/equaliser.hpp"

#include <algorithm>
#include <complex>
#include <vector>

#include "tidemill/dsp/complex_fir.hpp"
#include "tidemill/dvbs2/carrier/internal/hermitian.hpp"

namespace tidemill::dvbs2 {

namespace {

using Complex = std::complex<double>;

// How the symbols received at two times, `apart` of each other, agree.
Complex agreement(const ChannelEstimate& channel, std::size_t apart) {
    Complex sum{};
    // A later symbol stands further back in the response.
    for (std::size_t i = apart; i < kChannelTaps; ++i)
        sum += std::conj(channel.response[i]) * channel.response[i - apart];
    return apart == 0 ? sum + channel.noise : sum;
}

}  // namespace

bool make_equaliser(const ChannelEstimate& channel, std::span<Iq, kEqualiserTaps> taps) {
    constexpr std::size_t n = kEqualiserTaps;
    std::vector<Complex> matrix(n * n), wanted(n);
    for (std::size_t apart = 0; apart < std::min(n, kChannelTaps); ++apart) {
        const Complex both = agreement(channel, apart);
        for (std::size_t i = apart; i < n; ++i) matrix[i * n + i - apart] = std::conj(both);
    }
    static_assert(kChannelBehind <= kEqualiserBehind && kChannelAhead <= kEqualiserBefore);
    for (std::size_t i = 0; i < kChannelTaps; ++i)
        wanted[kEqualiserBefore + kChannelBehind - i] = std::conj(channel.response[i]);
    if (!internal::solve_hermitian(matrix, wanted)) return false;
    std::ranges::transform(wanted, taps.begin(), [](Complex tap) { return Iq(tap); });
    return true;
}

std::span<const Iq> Equaliser::apply(std::span<const Iq> frame, const FrameInfo& info,
                                     const EqualiserTaps& by) {
    const std::size_t count = static_cast<std::size_t>(info.symbols) +
                              (info.next_code >= 0 ? std::size_t{kHeaderSymbols} : std::size_t{0});
    heard_.resize(kEqualiserBefore + kFrameBufferSymbols + kEqualiserBehind);
    equalised_.resize(kFrameBufferSymbols);
    std::ranges::copy(by.before, heard_.begin());
    dsp::copy_samples(frame.first(count), std::span(heard_).subspan(kEqualiserBefore));
    std::fill_n(heard_.begin() + static_cast<std::ptrdiff_t>(kEqualiserBefore + count), kEqualiserBehind,
                Iq{});
    std::array<Iq, kEqualiserTaps> turned;
    for (std::size_t j = 0; j < kEqualiserTaps; ++j) {
        const double ahead = static_cast<double>(j) - static_cast<double>(kEqualiserBefore);
        const auto turn = Iq(std::polar(1.0, -dsp::kTwoPi * static_cast<double>(info.frequency) * ahead));
        turned[j] = by.taps[j] * turn;
    }
    dsp::complex_fir(heard_, turned, std::span(equalised_).first(count));
    // A symbol that is known to be lost comes back as little as it is there.
    for (std::size_t n = 0; n < count; ++n)
        if (frame[n] == Iq{}) equalised_[n] = {};
    return equalised_;
}

}  // namespace tidemill::dvbs2
