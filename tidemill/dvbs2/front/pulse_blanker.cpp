#include "tidemill/dvbs2/front/pulse_blanker.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "tidemill/base/quantile.hpp"
#include "tidemill/dsp/power_peaks.hpp"

namespace tidemill::dvbs2 {

namespace {

// Limits over the mean power. Of white Gaussian samples, the worst there are, a window of 17,000 shows such a
// part once in 200, such a sum of eight parts once in 500; 32APSK stays below 3 and 4.
constexpr float kDoubtfulPart = 14.0F;
constexpr float kDoubtfulGroup = 5.5F;

// Limits over the usual power: four symbols together without their strongest sample, one alone (of Gaussian
// ones, one in 10^7), and a sample beside one of these.
constexpr double kBlankedTogetherSymbols = 4;
constexpr float kStrongGroup = 4.5F;
constexpr float kStrongSample = 16.0F;
constexpr float kStrongNeighbour = 6.0F;
constexpr std::size_t kNeighbourSamples = 4;
// Half of the groups beside a pulse have less than so much; fewer groups show nothing.
constexpr float kLoudBeside = 2.2F;
constexpr std::size_t kFewestGroups = 8;

// Share of the loudest: a window that has less pauses for the most part, where the signal neither fades nor
// steps so deep.
constexpr double kPause = 0.08;
constexpr double kLongestSymbols = 256;
constexpr double kLargestShare = 0.3;  // of a window; more is something else

bool is_harmless(const dsp::PowerPeaks& peaks) {
    return peaks.part <= kDoubtfulPart * peaks.mean && peaks.group <= 0.5F * kDoubtfulGroup * peaks.mean;
}

}  // namespace

PulseBlanker::PulseBlanker(const FrontGeometry& geometry)
    : group_samples_(8 * static_cast<std::size_t>(
                             std::ceil(kBlankedTogetherSymbols * geometry.samples_per_symbol() / 8))),
      longest_samples_(static_cast<std::size_t>(kLongestSymbols * geometry.samples_per_symbol())) {}

bool PulseBlanker::leaves_alone(std::span<const Iq> window) {
    runs_.clear();
    return is_harmless(dsp::power_peaks(window));
}

bool PulseBlanker::leaves_alone(std::span<const dsp::Ci8> window) {
    runs_.clear();
    return is_harmless(dsp::power_peaks(window));
}

std::uint32_t PulseBlanker::blank(std::span<Iq> window, std::size_t first, const Known& known) {
    if (leaves_alone(window)) return 0;
    const double usual = usual_power(window), loudest = usual < kPause * known.loudest ? known.loudest : 0;
    const double power = std::max({usual, known.mean, loudest});
    if (power <= 0) return 0;
    find_runs(window, static_cast<float>(power));
    std::size_t all = 0, counted = 0;
    for (const Run& run : runs_) all += run.end - run.begin;
    if (static_cast<double>(all) > kLargestShare * static_cast<double>(window.size())) runs_.clear();
    for (const Run& run : runs_) counted += run.end - std::clamp(first, run.begin, run.end);
    blank_again(window);
    return static_cast<std::uint32_t>(counted);
}

void PulseBlanker::blank_again(std::span<Iq> window) const {
    for (const Run& run : runs_)
        std::fill(window.begin() + static_cast<std::ptrdiff_t>(run.begin),
                  window.begin() + static_cast<std::ptrdiff_t>(run.end), Iq{});
}

// Half of all groups have less: pulses do not move it.
double PulseBlanker::usual_power(std::span<const Iq> window) {
    powers_.clear();
    for (std::size_t n = 0; n + group_samples_ <= window.size(); n += group_samples_) {
        float sum = 0;
        for (const Iq x : window.subspan(n, group_samples_)) sum += std::norm(x);
        powers_.push_back(sum / static_cast<float>(group_samples_));
    }
    if (powers_.empty()) return 0;
    sorted_ = powers_;
    return static_cast<double>(middle_value(sorted_));
}

void PulseBlanker::find_runs(std::span<const Iq> window, float power) {
    for (std::size_t g = 0; g < powers_.size(); ++g) {
        const std::size_t begin = g * group_samples_, end = begin + group_samples_;
        const float sum = powers_[g] * static_cast<float>(group_samples_);
        if (sum < kStrongSample * power) continue;
        float most = 0;
        for (std::size_t n = begin; n < end; ++n) most = std::max(most, std::norm(window[n]));
        if (sum - most > kStrongGroup * power * static_cast<float>(group_samples_ - 1)) {
            runs_.push_back({begin, end});
            continue;
        }
        for (std::size_t n = begin; n < end; ++n)
            if (std::norm(window[n]) > kStrongSample * power) runs_.push_back({n, n + 1});
    }
    join_runs();
    for (Run& run : runs_) run = widened(run, window, power);
    join_runs();
    std::erase_if(runs_, [&](const Run& run) {
        return run.end - run.begin > longest_samples_ || is_in_burst(run, power);
    });
}

// A signal that is as loud before or after it, for as long as a pulse may last, is one that rises out of
// noise.
bool PulseBlanker::is_in_burst(const Run& run, float power) {
    const auto is_loud = [&](std::size_t begin, std::size_t end) {
        const std::size_t first = (begin + group_samples_ - 1) / group_samples_;
        const std::size_t last = std::min(end / group_samples_, powers_.size());
        if (last < first + kFewestGroups) return false;
        sorted_.assign(powers_.begin() + static_cast<std::ptrdiff_t>(first),
                       powers_.begin() + static_cast<std::ptrdiff_t>(last));
        return middle_value(sorted_) > kLoudBeside * power;
    };
    return is_loud(run.begin - std::min(run.begin, longest_samples_), run.begin) ||
           is_loud(run.end, run.end + longest_samples_);
}

// A pulse of noise has weak places, too.
void PulseBlanker::join_runs() {
    std::size_t last = 0;
    for (std::size_t i = 1; i < runs_.size(); ++i) {
        if (runs_[i].begin <= runs_[last].end + group_samples_) {
            runs_[last].end = std::max(runs_[last].end, runs_[i].end);
        } else {
            runs_[++last] = runs_[i];
        }
    }
    if (!runs_.empty()) runs_.resize(last + 1);
}

// It begins and ends within a group, and filters have made it longer.
PulseBlanker::Run PulseBlanker::widened(Run run, std::span<const Iq> window, float power) const {
    const auto is_strong = [&](std::size_t n) { return std::norm(window[n]) > kStrongNeighbour * power; };
    for (std::size_t n = run.begin; n > 0 && n + kNeighbourSamples > run.begin; --n)
        if (is_strong(n - 1)) run.begin = n - 1;
    for (std::size_t n = run.end; n < std::min(run.end + kNeighbourSamples, window.size()); ++n)
        if (is_strong(n)) run.end = n + 1;
    return run;
}

}  // namespace tidemill::dvbs2
