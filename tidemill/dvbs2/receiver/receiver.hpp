#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/receiver/reception_report.hpp"
#include "tidemill/dvbs2/streams/stream_outputs.hpp"
#include "tidemill/dvbs2/sync/frame_info.hpp"
#include "tidemill/io/live/sample_source.hpp"
#include "tidemill/runtime/graph/archive.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/stream/inlet.hpp"

namespace tidemill::dvbs2 {

struct LdpcDeviceUse;
struct LdpcOffload;

/// A BBFRAME as it left the decoder.
struct ReceivedFrame {
    const FrameInfo& info;
    float esn0_db;                          ///< between -20 and 60
    int ldpc_iterations;                    ///< sweeps over all checks, the last one counted whole
    std::span<const std::uint8_t> bbframe;  ///< packed, descrambled
    bool good;                              ///< false: more errors than the outer code corrects
    bool gap;                               ///< symbols are missing between the frame before and this one
    double from_s;                          ///< seconds of the signal since the start
    double lasts_s;
};

/// Where what was received goes; called by the one thread that runs the sink.
struct RxOutputs {
    StreamOutputs streams;
    std::function<void(const ReceivedFrame& frame)> frames{};  ///< every frame, also a bad one; may be empty
    StreamChoice choice{};
    bool may_wait =
        false;  ///< in these functions, for the reader of the output: dynamic workers change threads
    /// Called where the sink is kept: a writer of files keeps its positions. May be empty.
    std::function<void(Archive& archive)> keep{};
};

/// Settings of a receiver; everything else it reads off the air.
struct ReceiverConfig {
    double symbol_rate_hz = 0;  ///< 0: half the sample rate
    double rolloff = 0.20;
    int gold_code = 0;
    double tuned_hz = 0;  ///< where a TunedSource took the samples from: frequencies are counted from there
    double taken_rate_hz = 0;  ///< of those: so missing ones are counted; 0: there is no TunedSource
    static constexpr std::uint32_t kMostBlockSamples = 16384;
    std::uint32_t block_samples = kMostBlockSamples;
    bool live =
        false;  ///< samples come once: a reception that goes on from a checkpoint takes what comes then
    /// Whether samples may be lost soon, since time is short: then frames are not decoded by sum-product. May
    /// be asked by any thread; empty: never.
    std::function<bool()> short_of_time{};
    std::shared_ptr<const LdpcOffload> ldpc_device{};  ///< null: the host decodes
};

/// The DVB-S2 receiver as a graph: raw samples in, transport stream packets out. It waits for a signal,
/// locks, follows it, and looks for it again when it is lost; no run of it needs another order. Its last run
/// has `finish` in its options where other things than the source's end may end it.
class Receiver {
  public:
    /// `source` must outlive the receiver and know its sample rate, unless the symbol rate is given in its
    /// units. Throws Dvbs2Error for rates or a roll-off that cannot work.
    Receiver(io::SampleSource& source, const ReceiverConfig& config, RxOutputs outputs);

    /// For packets alone: a function of the bytes of whole ones.
    template <class PacketSink>
    requires std::invocable<PacketSink&, std::span<const std::uint8_t>> Receiver(io::SampleSource& source,
                                                                                 const ReceiverConfig& config,
                                                                                 PacketSink sink)
        : Receiver(source, config,
                   RxOutputs{.streams = {.packets = [sink = std::move(sink)](auto packets, auto) mutable {
                                 sink(packets);
                             }}}) {}

    ~Receiver();

    Graph& graph();

    /// State of the receiver so far; any thread may ask while it runs.
    ReceptionNow now() const;
    /// The whole account, between runs.
    ReceptionReport report() const;
    /// Share of a device in the decoding, between runs.
    const LdpcDeviceUse& ldpc_device_use() const;
    /// Counts of report() on frames; also for the thread that runs the sink: a condition to stop.
    const FrameTotals& totals() const;

  private:
    struct Stages;

    std::unique_ptr<Stages> stages_;
};

/// Samples that are pushed, and their receiver.
struct PushedConfig {
    dsp::SampleFormat format = dsp::SampleFormat::cf32;
    double sample_rate_hz = 0;            ///< 0: unknown, and a symbol rate is in its units
    std::size_t waiting_samples = 65536;  ///< that may wait, rounded up; 0: push() waits until they are read
    /// That receive, each task on whichever of them is free. 0: the caller of push() receives, before push()
    /// returns.
    std::size_t threads = 1;
    std::vector<Observer*> observers{};  ///< of the run; they outlive the receiver
    /// Called when it is over, by its thread, whatever ended it; what it throws is of no consequence.
    std::function<void()> on_end{};
};

/// The receiver inside another program: samples are pushed, packets come by function, and what happens
/// between is on threads of its own.
///
///     dvbs2::PushedReceiver receiver({.sample_rate_hz = 500e3}, {}, {.streams = {.packets = play}});
///     receiver.push(std::as_bytes(std::span(samples)));
///     const ReceptionReport report = receiver.finish();
class PushedReceiver {
  public:
    /// An exception of the outputs' functions ends the reception; `on_error` gets it, and finish() throws it.
    /// Throws Dvbs2Error for settings that cannot work.
    PushedReceiver(const PushedConfig& pushed, const ReceiverConfig& config, RxOutputs outputs,
                   Started::OnError on_error = {});
    /// Stops, and waits until that is done.
    ~PushedReceiver();

    /// Takes whole samples of the format, and waits while there is no room. One thread of the program at a
    /// time. Throws Dvbs2Error for parts of samples, behind the end, and when the reception has ended;
    /// without threads, what the reception throws.
    void push(std::span<const std::byte> samples);
    /// Takes as many as there is room for, and says how many bytes those are; throws likewise.
    std::size_t try_push(std::span<const std::byte> samples);

    /// No more samples come: the reception ends when those that wait are received.
    void end();
    /// The reception ends soon; samples that wait are not received.
    void stop();
    /// Whether it has not ended yet.
    bool running() const;
    /// Ends it as end() does, waits, and returns what was received. Throws what the reception threw. Once.
    ReceptionReport finish();

    /// State of the receiver so far; any thread may ask.
    ReceptionNow now() const;

    class Reception;  ///< how it is done: on threads, or within push()

  private:
    std::unique_ptr<Reception> reception_;
};

}  // namespace tidemill::dvbs2
