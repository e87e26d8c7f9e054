#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tidemill/cli/dvbs2/tx_job.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::cli {

/// Where the samples of a transmission go.
class TxOutput {
  public:
    virtual ~TxOutput() = default;

    virtual void write(std::span<const dsp::Iq> samples) = 0;
    /// Silence of so many samples between two bursts.
    virtual void rest(std::uint64_t samples) = 0;
    virtual void close() = 0;
    virtual std::uint64_t samples() const = 0;
    virtual std::uint64_t limited_samples() const = 0;

    /// Whether it takes samples at a pace of its own.
    virtual bool is_live() const { return false; }
    /// How often it had nothing to send in time.
    virtual std::uint64_t underflows() const { return 0; }
    /// From another thread: who writes waits no longer.
    virtual void stop() noexcept {}
};

/// Samples per second of a transmission.
double sample_rate_hz(const TxOptions& options);

/// A recording, or a radio. Throws JobFailed and WrongUsage.
std::unique_ptr<TxOutput> open_tx_output(const TxOptions& options);

}  // namespace tidemill::cli
