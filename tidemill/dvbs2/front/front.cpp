#include "tidemill/dvbs2/front/front.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/dvbs2/front/front_strobes.hpp"

namespace tidemill::dvbs2 {

Front::Front(const FrontConfig& config, Sink sink)
    : geometry_(config),
      sink_(std::move(sink)),
      coarse_(geometry_),
      filter_(geometry_),
      interpolator_(config.rolloff),
      window_(geometry_.history_samples() + geometry_.block_samples()) {}

void Front::push(std::span<const Iq> samples) {
    report_.samples += samples.size();
    while (!samples.empty()) {
        const std::size_t n = std::min<std::size_t>(samples.size(), geometry_.block_samples() - filled_);
        std::copy_n(samples.begin(), n,
                    window_.end() - geometry_.block_samples() + static_cast<std::ptrdiff_t>(filled_));
        samples = samples.subspan(n);
        filled_ += static_cast<std::uint32_t>(n);
        if (filled_ == geometry_.block_samples()) run_block();
    }
}

void Front::finish() {
    // Zeros push through the filters what the last samples began.
    const double end = static_cast<double>(report_.samples) + geometry_.filter_taps() / 2.0;
    const double subblock = kSubblockSymbols * geometry_.samples_per_symbol();
    while (static_cast<double>(geometry_.subblocks_before(block_)) * subblock < end) {
        std::fill(window_.end() - geometry_.block_samples() + static_cast<std::ptrdiff_t>(filled_),
                  window_.end(), Iq{});
        run_block();
    }
    settle_raw(coarse_.finish());
    settle_filtered(timing_.finish());
}

void Front::run_block() {
    RawBlock& kept = kept_raw_.push();
    kept.samples = window_;
    kept.valid = filled_;
    const KeptBlocks decision =
        coarse_.step(measure_spectrum(geometry_, block_, window_, coarse_.found() ? kFollowedChunks : 1));
    std::copy(window_.end() - geometry_.history_samples(), window_.end(), window_.begin());
    filled_ = 0;
    ++block_;
    settle_raw(decision);
}

void Front::settle_raw(KeptBlocks decision) {
    report_.dropped_blocks += decision.drop;
    kept_raw_.pop(decision.drop);
    for (std::uint32_t i = 0; i < decision.release; ++i) {
        RawBlock& raw = kept_raw_.front();
        FilteredBlock& filtered = kept_filtered_.push();
        filter_.process(raw.samples, raw.valid, coarse_.next(), filtered);
        kept_raw_.pop();
        report_.frequency = filtered.info.frequency;
        settle_filtered(timing_.step(filtered.info));
    }
}

void Front::settle_filtered(KeptBlocks decision) {
    report_.dropped_blocks += decision.drop;
    kept_filtered_.pop(decision.drop);
    for (std::uint32_t i = 0; i < decision.release; ++i) {
        const StrobePlan plan = timing_.next();
        read_symbols(interpolator_, kept_filtered_.front(), plan, symbols_);
        kept_filtered_.pop();
        report_.restarts += plan.restart;
        report_.symbols += symbols_.count;
        report_.clock_ppm = timing_.clock_ppm();
        sink_(symbols_);
    }
}

std::vector<Iq> receive_symbols(const FrontConfig& config, std::span<const Iq> samples, FrontReport* report) {
    std::vector<Iq> symbols;
    Front front(config, [&](const SymbolBlock& block) {
        symbols.insert(symbols.end(), block.symbols.begin(), block.symbols.begin() + block.count);
    });
    front.push(samples);
    front.finish();
    if (report != nullptr) *report = front.report();
    return symbols;
}

}  // namespace tidemill::dvbs2
