#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/transmitter.hpp"
#include "tidemill/io/live/quantize.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/tuning/profile/profiler.hpp"

/// Receptions that are timed, of recordings in memory: for the receiver's benchmarks.
namespace tidemill::dvbs2::internal {

/// A signal of so many frames as ci8, with noise, an offset and a clock error.
struct TimedSignal {
    Pls pls;
    double esn0_db = 10;
    std::size_t frames = 2500;
};

/// By how much its clock runs slower than the receiver's: so many more samples a symbol.
inline constexpr double kTimedClockPpm = 20;

inline std::vector<std::byte> make_recording(const TimedSignal& signal) {
    TransmitterConfig config;
    config.pls = signal.pls;
    Transmitter transmitter(config);
    ChannelConfig air;
    air.esn0_db = signal.esn0_db;
    air.frequency_cycles_per_symbol = 0.04;
    air.clock_offset_ppm = kTimedClockPpm;
    Channel channel(air);
    const std::size_t data_bytes = transmitter.modulator().bbframe_bytes() - kBbHeaderBytes;
    std::vector<dsp::Iq> clean, noisy;
    std::vector<std::byte> bytes;
    const auto quantize = [&] {
        const std::size_t done = bytes.size();
        bytes.resize(done + 2 * noisy.size());
        io::quantize(noisy, 0.25F, dsp::SampleFormat::ci8, std::span(bytes).subspan(done));
        clean.clear();
        noisy.clear();
    };
    constexpr std::size_t kAtOnce = 100;
    for (std::size_t frame = 0; frame < signal.frames; frame += kAtOnce) {
        transmitter.transmit(random_packets(kAtOnce * data_bytes / io::kTsPacketBytes, frame), clean);
        channel.process(clean, noisy);
        quantize();
    }
    transmitter.finish(clean);
    channel.process(clean, noisy);
    channel.finish(noisy);
    quantize();
    return bytes;
}

/// All recordings made so far.
inline auto& recordings() {
    static std::map<std::tuple<int, double, std::size_t>, std::vector<std::byte>> made;
    return made;
}

/// The same, made when first asked for.
inline const std::vector<std::byte>& recording_of(const TimedSignal& signal) {
    auto& bytes = recordings()[{signal.pls.code(), signal.esn0_db, signal.frames}];
    if (bytes.empty()) bytes = make_recording(signal);
    return bytes;
}

/// Bytes in memory as a recording of two samples a symbol.
class Ci8Source final : public io::SampleSource {
  public:
    explicit Ci8Source(std::span<const std::byte> bytes) : bytes_(bytes) {}

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return 2.0; }
    std::size_t read(std::span<std::byte> to) override {
        const std::size_t count = std::min(to.size(), bytes_.size());
        std::memcpy(to.data(), bytes_.data(), count);
        bytes_ = bytes_.subspan(count);
        return count;
    }

  private:
    std::span<const std::byte> bytes_;
};

struct TimedReception {
    RunReport run;
    FrameTotals totals;
    std::uint64_t symbols = 0;

    /// Time of all calls of a task, "module.task".
    double task_us(std::string_view name) const {
        const auto task = std::ranges::find(run.tasks, name, &TaskReport::name);
        return task == run.tasks.end() ? 0 : task->calls.total_us;
    }
    /// Whether what was sent arrived: all frames but those at the very ends, none of them bad.
    bool complete(const TimedSignal& signal) const {
        return totals.frames_bad == 0 && totals.frames + 3 >= signal.frames;
    }
};

/// Receives a recording as the schedule says, or in order without one.
inline TimedReception receive_timed(std::span<const std::byte> recording,
                                    const Schedule* schedule = nullptr) {
    TimedReception timed;
    Ci8Source source(recording);
    Receiver receiver(source, {}, [](auto) {});
    if (schedule) {
        const Topology topology = Topology::here();
        timed.run = Pipeline(receiver.graph(), *schedule, {&topology, 8, WaitMode::mixed}).run();
    } else {
        timed.run = Sequence(receiver.graph()).run();
    }
    timed.totals = receiver.totals();
    timed.symbols = receiver.report().sync.symbols;
    return timed;
}

/// The schedule that HeRAD finds for so many of this machine's cores.
inline Schedule schedule_found(std::span<const std::byte> recording, int cores) {
    Ci8Source source(recording);
    Receiver receiver(source, {}, [](auto) {});
    const Topology topology = Topology::here();
    Profiler profiler(topology, {});
    const CoreKind& kind = topology.kinds.front();
    profiler.profile(receiver.graph(), kind, [&] { return receiver.totals().frames; });
    Platform platform;
    platform.set(kind.name, cores);
    return herad(profiler.profile(), platform);
}

}  // namespace tidemill::dvbs2::internal
