#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tidemill/apps/transmission/tx_job.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/send/tx_stages.hpp"

namespace tidemill::cli {

/// Where the samples of a transmission go.
class TxOutput {
  public:
    virtual ~TxOutput() = default;

    virtual void write(std::span<const dsp::Iq> samples) = 0;
    /// How samples are to be rounded for write_rounded(); none: it takes them as they are.
    virtual std::optional<dvbs2::TxStages::Rounded> rounding() const { return {}; }
    /// Whole samples that are rounded so, of which so many were limited.
    virtual void write_rounded(std::span<const std::byte> /*samples*/, std::uint64_t /*limited*/) {}
    /// Silence of so many samples between two bursts.
    virtual void rest(std::uint64_t samples) = 0;
    virtual void close() = 0;
    virtual std::uint64_t samples() const = 0;
    virtual std::uint64_t limited_samples() const = 0;

    /// Whether its writer may have to wait: for a radio, packets, a pipe.
    virtual bool may_wait() const { return true; }
    /// Whether it takes samples at a pace of its own.
    virtual bool is_live() const { return false; }
    /// How often it had nothing to send in time.
    virtual std::uint64_t underflows() const { return 0; }
    /// From another thread: ends a writer's wait.
    virtual void stop() noexcept {}
};

/// Samples per second of a transmission.
double sample_rate_hz(const TxSignalOptions& signal);

/// Whether an output of that name takes samples as fast as they are sent, and no faster.
bool has_own_pace(const std::string& place);

/// Takes what the output of such a transmission would take, and forgets it.
std::unique_ptr<TxOutput> forgetful_tx_output(const TxOutputOptions& options);

/// A recording, or a radio. Throws JobFailed and WrongUsage.
std::unique_ptr<TxOutput> open_tx_output(const TxOutputOptions& options, const TxSignalOptions& signal);

}  // namespace tidemill::cli
