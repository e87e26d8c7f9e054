#include "tidemill/dvbs2/carrier/internal/phase_path.hpp"

#include <cmath>
#include <complex>
#include <limits>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

namespace {

PhaseSample beside(const Sweep& sweep, PhaseSample header) {
    header.phase -= sweep.phase_at(header.place);
    return header;
}

// A block's sum without the sweep and so much phase beside it.
std::complex<double> turned(const PowerBlock& block, int order, const Sweep& sweep, double phase) {
    return block.sum * std::polar(1.0, -order * (sweep.phase_at(block.place) + phase));
}

PhaseSample near(const PhaseSample& sample, double phase) {
    return {sample.place, sample.phase - dsp::kTwoPi * std::round((sample.phase - phase) / dsp::kTwoPi),
            sample.variance};
}

}  // namespace

Sweep PathFollower::follow(std::span<const PowerBlock> blocks, const PowerStatistics& statistics, int order,
                           std::span<const PhaseSample> headers, double step_sigma,
                           std::span<const Sweep> sweeps, std::vector<PhaseSample>& samples) {
    Sweep best = sweeps.front();
    path_.clear();
    double best_score = -std::numeric_limits<double>::infinity();
    const double weight = 2 * statistics.signal / statistics.noise;
    for (const Sweep& sweep : sweeps) {
        trellis_.begin(order, step_sigma, blocks.size());
        trellis_.add_header(beside(sweep, headers.front()));
        for (const PowerBlock& block : blocks) {
            trellis_.advance(weight * turned(block, order, sweep, 0));
        }
        if (headers.size() > 1) {
            trellis_.add_header(beside(sweep, headers.back()));
        }
        const double score = sweep.prior + trellis_.score();
        if (!path_.empty() && !(score > best_score)) continue;
        best = sweep;
        best_score = score;
        trellis_.path(path_);
    }
    samples.assign(1, near(beside(best, headers.front()), path_.front()));
    const double variance = statistics.noise / (2 * std::pow(order * statistics.signal, 2));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        // The part across the path, not the angle: it stays without bias where noise hides the carrier.
        const double across = turned(blocks[b], order, best, path_[b]).imag() / statistics.signal;
        samples.push_back({blocks[b].place, path_[b] + across / order, variance});
    }
    if (headers.size() > 1) {
        samples.push_back(near(beside(best, headers.back()), path_.back()));
    }
    return best;
}

}  // namespace tidemill::dvbs2::internal
