#include "tidemill/dvbs2/carrier/channel_learner.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dvbs2/carrier/internal/hermitian.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/standard/pl_header.hpp"

namespace tidemill::dvbs2 {

namespace {

using Complex = std::complex<double>;

// Known symbols that count, the latest first: what of the channel's taps is noise costs a three-hundredth of
// the noise.
constexpr double kLearnedSymbols = 8192;

constexpr double kErasedShare = 0.15;  // of the mean power: a block that a pulse has hit

/// The conjugates of a block's symbols in two parts, with zeros where they are not known.
struct Padded {
    static constexpr std::size_t kMost = kHeaderSymbols + kChannelTaps;

    explicit Padded(std::span<const dsp::Iq> references) {
        for (std::size_t i = 0; i < references.size(); ++i) {
            re[kChannelBehind + i] = references[i].real();
            im[kChannelBehind + i] = references[i].imag();
        }
    }

    std::array<float, kMost> re{}, im{};
};

double power_of(std::span<const dsp::Iq> symbols) {
    double power = 0;
    for (const dsp::Iq symbol : symbols) power += std::norm(symbol);
    return power / static_cast<double>(symbols.size());
}

// Energy of a response to symbols that have so much in common.
double energy_of(const std::vector<Complex>& gram, std::span<const Complex> response) {
    double energy = 0;
    for (std::size_t i = 0; i < response.size(); ++i) {
        Complex sum{};
        for (std::size_t j = 0; j < response.size(); ++j)
            sum += dsp::product(gram[i * response.size() + j], response[j]);
        energy += (std::conj(response[i]) * sum).real();
    }
    return energy;
}

}  // namespace

ChannelLearner::ChannelLearner(const PlScrambler& scrambler)
    : scrambler_(&scrambler), gram_(kChannelTaps * kChannelTaps) {
    forget();
}

void ChannelLearner::forget() {
    std::ranges::fill(gram_, Complex{});
    sums_ = {};
    energy_ = symbols_ = 0;
    response_ = {};
    response_[kChannelBehind] = 1;
}

void ChannelLearner::find_blocks(const Pls& pls) {
    blocks_.assign(1, {0, header_references(pls.code())});
    for (int block = 0; block < layout_of(pls).pilot_blocks; ++block) {
        const int place = FrameLayout::pilot_start(block);
        blocks_.push_back({place, scrambler_->pilot_references().subspan(
                                      static_cast<std::size_t>(place - kHeaderSymbols), kPilotBlockSymbols)});
    }
}

// Correlation of a frame's known symbols with each other, tap by tap.
const std::vector<Complex>& ChannelLearner::gram_of(const Pls& pls) {
    std::vector<Complex>& gram = grams_[static_cast<std::size_t>(pls.code())];
    if (!gram.empty()) return gram;
    gram.resize(kChannelTaps * kChannelTaps);
    for (const Block& block : blocks_) {
        const Padded known(block.references);
        for (std::size_t n = 0; n < block.references.size(); ++n) {
            for (std::size_t i = 0; i < kChannelTaps; ++i) {
                for (std::size_t j = 0; j < kChannelTaps; ++j) {
                    const Complex a(known.re[n + i], known.im[n + i]), b(known.re[n + j], -known.im[n + j]);
                    gram[i * kChannelTaps + j] += a * b;
                }
            }
        }
    }
    return gram;
}

ChannelLearner::Sums ChannelLearner::sums_of(std::span<const dsp::Iq> frame, const Block& block,
                                             double frequency) const {
    const Padded known(block.references);
    std::array<float, kChannelTaps> re{}, im{};
    const auto place = static_cast<std::size_t>(block.place);
    const Complex step = std::polar(1.0, -dsp::kTwoPi * frequency);
    Complex turn{1, 0};
    for (std::size_t n = 0; n < block.references.size(); ++n) {
        const Complex y(frame[place + n]);
        const auto x = static_cast<float>(y.real() * turn.real() - y.imag() * turn.imag());
        const auto q = static_cast<float>(y.real() * turn.imag() + y.imag() * turn.real());
        turn = {turn.real() * step.real() - turn.imag() * step.imag(),
                turn.real() * step.imag() + turn.imag() * step.real()};
        for (std::size_t i = 0; i < kChannelTaps; ++i) {
            re[i] += known.re[n + i] * x - known.im[n + i] * q;
            im[i] += known.re[n + i] * q + known.im[n + i] * x;
        }
    }
    Sums sums;
    for (std::size_t i = 0; i < kChannelTaps; ++i) sums[i] = {re[i], im[i]};
    return sums;
}

bool ChannelLearner::learn(std::span<const dsp::Iq> frame, const FrameInfo& info) {
    find_blocks(info.pls);
    double power = 0, least = INFINITY, symbols = 0;
    for (const Block& block : blocks_) {
        const auto count = static_cast<double>(block.references.size());
        const auto known = frame.subspan(static_cast<std::size_t>(block.place), block.references.size());
        // A hole that stays where it is in a header would look like an echo.
        if (std::ranges::find(known, dsp::Iq{}) != known.end()) return false;
        const double its = power_of(known);
        power += its * count;
        symbols += count;
        least = std::min(least, its);
    }
    const double scale = symbols / power;
    if (!(power > 0) || !std::isfinite(scale) || least * scale < kErasedShare) return false;

    const double left = symbols_ + symbols < kLearnedSymbols ? 1 : 1 - symbols / kLearnedSymbols;
    for (Complex& sum : gram_) sum *= left;
    for (Complex& sum : sums_) sum *= left;
    const std::vector<Complex>& gram = gram_of(info.pls);
    for (std::size_t i = 0; i < gram.size(); ++i) gram_[i] += gram[i];
    double agreed = 0;
    for (const Block& block : blocks_) {
        const Sums sums = sums_of(frame, block, info.frequency);
        Complex agreement{};
        for (std::size_t i = 0; i < kChannelTaps; ++i) agreement += std::conj(response_[i]) * sums[i];
        agreed += std::abs(agreement);
        const Complex upright = std::polar(std::sqrt(scale), -std::arg(agreement));
        for (std::size_t i = 0; i < kChannelTaps; ++i) sums_[i] += upright * sums[i];
    }
    misfit_ = 1 + (energy_of(gram, response_) - 2 * std::sqrt(scale) * agreed) / symbols;
    energy_ = left * energy_ + symbols;
    symbols_ = left * symbols_ + symbols;
    return true;
}

ChannelEstimate ChannelLearner::estimate() {
    ChannelEstimate channel;
    constexpr auto kOthers = static_cast<double>(kChannelTaps - 1);
    if (symbols_ <= 2 * kOthers) return channel;
    solved_ = gram_;
    channel.response = sums_;
    if (!internal::solve_hermitian(solved_, channel.response)) return {};
    double explained = 0;
    for (std::size_t i = 0; i < kChannelTaps; ++i)
        explained += (std::conj(channel.response[i]) * sums_[i]).real();
    const double alone = std::norm(sums_[kChannelBehind]) / gram_[kChannelBehind * (kChannelTaps + 1)].real();
    channel.symbols = symbols_;
    channel.noise = std::max(energy_ - explained, 1e-9 * energy_) / (symbols_ - kOthers - 1);
    channel.evidence = std::max(explained - alone, 0.0) / (kOthers * channel.noise);
    channel.interference = std::max(channel.evidence - 1, 0.0) * kOthers * channel.noise / symbols_;
    response_ = channel.response;
    return channel;
}

namespace {

struct Path {
    double delay;
    Complex gain;
};

constexpr double kUsualRolloff = 0.2;

double pulse_at(std::size_t tap, double delay) {
    const double symbols = static_cast<double>(kChannelBehind) - static_cast<double>(tap);
    return dsp::raised_cosine(symbols - delay, kUsualRolloff);
}

// The path that explains most of a response, between two delays.
Path strongest_path(std::span<const Complex> response, int first, int last) {
    constexpr int kSteps = 10;
    Path best{0, {}};
    double most = 0;
    for (int step = kSteps * first; step <= kSteps * last; ++step) {
        const double delay = static_cast<double>(step) / kSteps;
        Complex sum{};
        double energy = 0;
        for (std::size_t tap = 0; tap < response.size(); ++tap) {
            const double pulse = pulse_at(tap, delay);
            sum += pulse * response[tap];
            energy += pulse * pulse;
        }
        if (std::norm(sum) <= most * energy) continue;
        most = std::norm(sum) / energy;
        best = {delay, sum / energy};
    }
    return best;
}

}  // namespace

ObservedEcho strongest_echo(const ChannelEstimate& channel) {
    auto left = channel.response;
    const Path direct = strongest_path(left, -1, 1);
    for (std::size_t tap = 0; tap < left.size(); ++tap)
        left[tap] -= direct.gain * pulse_at(tap, direct.delay);
    const Path echo = strongest_path(left, -int{kChannelAhead}, int{kChannelBehind});
    const double late = std::round(10 * (echo.delay - direct.delay)) / 10;
    return {late, 10 * std::log10(std::norm(echo.gain) / std::norm(direct.gain))};
}

}  // namespace tidemill::dvbs2
