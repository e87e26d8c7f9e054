#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/apps/transmission/tx_input.hpp"
#include "tidemill/apps/transmission/tx_job.hpp"
#include "tidemill/dvbs2/send/multiplexer.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/dvbs2/send/tx_stages.hpp"
#include "tidemill/io/transport/byte_writer.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::cli {

/// An input with the name that errors give it.
struct NamedInput {
    std::string name;
    std::uint8_t number = 0;
    std::unique_ptr<TxInput> input;
    bool drained = false;  ///< ended, and all of it sent
};

/// Kind of each input stream that is sent. Throws WrongUsage where that is not determined.
dvbs2::InputStream kind_of(const TxDataOptions& data, const TxSignalOptions& signal);

/// Bytes that stay together: a packet, or a byte of a continuous stream.
std::size_t unit_bytes(const dvbs2::InputStream& stream);

/// The parts that make the signal of a transmission.
struct TxSignal {
    /// The options outlive it. Throws WrongUsage for a signal that cannot be.
    TxSignal(const TxDataOptions& data, const TxSignalOptions& options,
             const std::vector<NamedInput>& inputs);

    const TxDataOptions& data;
    const TxSignalOptions& options;
    dvbs2::Multiplexer multiplexer;
    dvbs2::PulseShaper shaper;
};

/// How a transmission's frames are made.
struct TxFraming {
    TxSignal& signal;
    std::vector<NamedInput>& inputs;
    std::uint64_t tail_samples = 0;  ///< by which the last pulse of a burst reaches into the silence
    bool waits_for_signal = false;   ///< data that come live are sent when the signal is so far
    io::ByteWriter* copy = nullptr;  ///< of what is taken from the inputs
};

/// The source of a transmitter: frame by frame, what the inputs give.
class TxFrames final : public Module {
    const bool may_wait_;

  public:
    explicit TxFrames(const TxFraming& how);

    OutUpTo<std::uint8_t> bbframe = out<std::uint8_t>("bbframe", upto(dvbs2::kMaxBbframeBytes));
    Label<dvbs2::TxFrame> about = label<dvbs2::TxFrame>("about");
    Task make = task("make", &TxFrames::make_frame, TaskOptions{.may_wait = may_wait_});

    /// Sent so far; any thread may ask.
    std::uint64_t frames() const { return frames_.load(std::memory_order_relaxed); }
    /// From any thread: nothing is waited for any more.
    void end() noexcept override;

    // Between runs.
    std::uint64_t bytes() const { return bytes_taken_; }
    std::uint64_t bursts() const { return bursts_; }
    /// Whether pulses of the last frame have not died away yet.
    bool is_in_burst() const { return frames_of_burst_ > 0 || rest_samples_; }

  private:
    using Clock = std::chrono::steady_clock;

    Flow make_frame(Frame f);
    bool is_done() const;
    double signal_s() const;
    std::optional<dvbs2::OutgoingFrame> next();
    std::optional<dvbs2::OutgoingFrame> next_of(NamedInput& input);
    void feed(std::size_t stream, NamedInput& input);
    void feed(std::size_t stream, const std::string& name, std::span<const std::uint8_t> bytes);
    void wait_for_signal();
    void fall_silent();

    TxFraming how_;
    std::size_t unit_bytes_;
    std::uint64_t symbols_sent_ = 0;  // or silent
    std::uint64_t samples_given_ = 0;
    std::uint64_t frames_of_burst_ = 0, bursts_ = 0;
    std::optional<std::uint64_t> rest_samples_{};  // before the next frame
    std::uint64_t bytes_taken_ = 0;
    std::atomic<std::uint64_t> frames_{0};
    std::optional<Clock::time_point> start_{};  // of what is sent as it comes
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ended_ = false;
};

}  // namespace tidemill::cli
