#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tidemill/c/packet_queue.hpp"
#include "tidemill/c/rx_config.hpp"
#include "tidemill/c/status.hpp"
#include "tidemill/dvbs2/receiver/symbol_tap.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

using namespace tidemill;
using tidemill::c::CallError;
using tidemill::c::carefully;
using tidemill::c::given;

struct tidemill_rx {
    explicit tidemill_rx(const tidemill_rx_config& asked);
    ~tidemill_rx();
    tidemill_rx(const tidemill_rx&) = delete;
    tidemill_rx& operator=(const tidemill_rx&) = delete;

    /// The result of the first finish(), for each later call.
    const dvbs2::ReceptionReport& join();

    tidemill_rx_config config;
    std::size_t sample_bytes;
    c::PacketQueue packets;
    dvbs2::SymbolTap tap;
    std::once_flag joined;
    std::optional<dvbs2::ReceptionReport> report;
    std::exception_ptr error;
    std::optional<dvbs2::PushedReceiver> receiver;
};

namespace {

/// The receiver in whose callback this thread is.
thread_local const tidemill_rx* calling_back = nullptr;

/// Held around a callback.
class CallingBack {
  public:
    explicit CallingBack(const tidemill_rx& rx) : before_(std::exchange(calling_back, &rx)) {}
    ~CallingBack() { calling_back = before_; }
    CallingBack(const CallingBack&) = delete;
    CallingBack& operator=(const CallingBack&) = delete;

  private:
    const tidemill_rx* before_;
};

/// Throws for what would wait for the callback that it is called in.
tidemill_rx& outside_callback(tidemill_rx* rx, const char* function, const char* instead) {
    if (rx && rx == calling_back)
        throw CallError(
            fmt::format("{} in a callback of its receiver would wait for that: {}", function, instead));
    return given(rx, "rx");
}

tidemill_frame told(const dvbs2::ReceivedFrame& frame) {
    return {.size = sizeof(tidemill_frame),
            .modcod = frame.info.pls.modcod,
            .short_frame = frame.info.pls.size == dvbs2::FrameSize::short_,
            .pilots = frame.info.pls.pilots,
            .good = frame.good,
            .esn0_db = frame.esn0_db,
            .ldpc_iterations = frame.ldpc_iterations};
}

dvbs2::RxOutputs outputs_of(tidemill_rx& rx) {
    dvbs2::RxOutputs outputs{.streams = {}, .choice = rx.config.streams};
    const auto on_packets = rx.config.on_packets;
    if (on_packets.call) {
        outputs.streams.packets = [on_packets, &rx](std::span<const std::uint8_t> packets,
                                                    std::uint8_t stream) {
            const CallingBack callback(rx);
            on_packets.call(on_packets.with, packets.data(), packets.size() / io::kTsPacketBytes, stream);
        };
    } else {
        outputs.streams.packets = [&rx](std::span<const std::uint8_t> packets, std::uint8_t) {
            rx.packets.put(packets);
        };
    }
    if (const auto on_frame = rx.config.on_frame; on_frame.call)
        outputs.frames = [on_frame, &rx](const dvbs2::ReceivedFrame& frame) {
            const CallingBack callback(rx);
            const tidemill_frame its = told(frame);
            on_frame.call(on_frame.with, &its);
        };
    return outputs;
}

dvbs2::SymbolTap tap_of(const tidemill_rx& rx, const tidemill_rx_config& config) {
    return dvbs2::SymbolTap(
        [call = config.on_symbols, &rx](std::uint64_t, const std::vector<dsp::Iq>& symbols) {
            const CallingBack callback(rx);
            call.call(call.with, reinterpret_cast<const float*>(symbols.data()), symbols.size());
        });
}

/// Copies as much of `filled` as the caller's structure has room for; it may be of an older or a newer
/// version.
template <class Told>
void copy_out(const Told& filled, Told* to, const char* name) {
    Told& out = given(to, name);
    const std::size_t size = out.size;
    if (size < sizeof(std::size_t))
        throw CallError(fmt::format("{0}->size is {1}; set it to sizeof *{0} before", name, size));
    std::memcpy(&out, &filled, std::min(size, sizeof(Told)));
    out.size = std::min(size, sizeof(Told));
}

tidemill_rx_report told(const dvbs2::ReceptionReport& report) {
    return {.size = 0,
            .samples = report.samples,
            .samples_not_finite = report.samples_not_finite,
            .frames = report.totals.frames,
            .frames_bad = report.totals.frames_bad,
            .frames_lost = report.packets.frames_lost,
            .packets = report.packets.packets,
            .packets_dropped = report.packets.packets_dropped,
            .locks = report.sync.locks,
            .esn0_db = report.totals.frames_good() > 0 ? report.totals.esn0_db() : 0};
}

tidemill_rx_state told(const dvbs2::ReceptionNow& now) {
    const dvbs2::Pls pls = now.totals.last_pls.value_or(dvbs2::Pls{});
    return {.size = 0,
            .found = now.found,
            .locked = now.locked,
            .modcod = pls.modcod,
            .short_frame = pls.size == dvbs2::FrameSize::short_,
            .pilots = pls.pilots,
            .frames = now.totals.frames,
            .frames_bad = now.totals.frames_bad,
            .info_bits = now.totals.info_bits,
            .esn0_db = now.totals.last_esn0_db,
            .frequency_hz = now.frequency_hz,
            .symbol_rate_hz = now.symbol_rate_hz,
            .clock_ppm = now.clock_ppm,
            .samples_clipped = now.samples_clipped};
}

std::span<const std::byte> bytes_of(const tidemill_rx& rx, const void* samples, std::size_t count) {
    if (count > 0) (void)given(static_cast<const std::byte*>(samples), "samples");
    return {static_cast<const std::byte*>(samples), c::bytes_of(count, rx.sample_bytes, "samples")};
}

tidemill_status pull(tidemill_rx* rx, std::uint8_t* packets, std::size_t room, std::size_t* got, bool waits) {
    return carefully([&] {
        tidemill_rx& from = given(rx, "rx");
        if (from.config.on_packets.call)
            throw CallError("packets go to the callback of this receiver; make one without to pull them");
        if (room == 0) throw CallError("room for 0 packets; give room for one at least");
        const std::size_t bytes = c::bytes_of(room, io::kTsPacketBytes, "packets");
        given(got, "got") = from.packets.take({&given(packets, "packets"), bytes}, waits);
    });
}

}  // namespace

tidemill_rx::tidemill_rx(const tidemill_rx_config& asked)
    : config(asked),
      sample_bytes(dsp::bytes_per_sample(asked.pushed.format)),
      packets(asked.waiting_packets),
      tap(tap_of(*this, asked)) {
    if (config.on_symbols.call) config.pushed.observers.push_back(&tap);
    if (config.pushed.threads == 0)
        packets.disable_backpressure();  // the thread that would make room may be the one that puts them in
    config.pushed.on_end = [this] { packets.close(); };
    receiver.emplace(config.pushed, config.receiver, outputs_of(*this),
                     [call = config.on_error, this](const std::exception& failure) {
                         const CallingBack callback(*this);
                         if (call.call) call.call(call.with, failure.what());
                     });
}

tidemill_rx::~tidemill_rx() {
    packets.disable_backpressure();
    receiver.reset();
}

const dvbs2::ReceptionReport& tidemill_rx::join() {
    std::call_once(joined, [&] {
        try {
            report = receiver->finish();
        } catch (...) {
            error = std::current_exception();
        }
    });
    if (error) std::rethrow_exception(error);
    return *report;
}

tidemill_rx* tidemill_rx_new(const tidemill_rx_config* config) {
    return c::made_carefully([&] { return std::make_unique<tidemill_rx>(given(config, "config")); });
}

void tidemill_rx_free(tidemill_rx* rx) {
    if (!rx) return;
    (void)carefully([&] { delete &outside_callback(rx, "tidemill_rx_free()", "free it elsewhere"); });
}

tidemill_status tidemill_rx_push(tidemill_rx* rx, const void* samples, size_t count) {
    return carefully([&] {
        tidemill_rx& to = outside_callback(rx, "tidemill_rx_push()", "push elsewhere");
        to.receiver->push(bytes_of(to, samples, count));
    });
}

tidemill_status tidemill_rx_try_push(tidemill_rx* rx, const void* samples, size_t count, size_t* taken) {
    return carefully([&] {
        given(taken, "taken") = 0;
        const dvbs2::PushedConfig& pushed = given(rx, "rx").config.pushed;
        if (rx == calling_back && pushed.threads == 0)
            throw CallError(
                "tidemill_rx_try_push() within tidemill_rx_push() of a receiver without threads: push later");
        if (pushed.waiting_samples == 0 && pushed.threads > 0)
            throw CallError(
                "no samples may wait in this receiver, so they are lent: tidemill_rx_push() does");
        *taken = rx->receiver->try_push(bytes_of(*rx, samples, count)) / rx->sample_bytes;
    });
}

tidemill_status tidemill_rx_pull(tidemill_rx* rx, uint8_t* packets, size_t room, size_t* got) {
    return pull(rx, packets, room, got, /*waits=*/true);
}

tidemill_status tidemill_rx_try_pull(tidemill_rx* rx, uint8_t* packets, size_t room, size_t* got) {
    return pull(rx, packets, room, got, /*waits=*/false);
}

tidemill_status tidemill_rx_end(tidemill_rx* rx) {
    return carefully([&] {
        if (rx && rx->config.pushed.threads == 0)  // then it does the rest itself
            outside_callback(rx, "tidemill_rx_end()", "end it elsewhere, or use tidemill_rx_stop()");
        given(rx, "rx").receiver->end();
    });
}

tidemill_status tidemill_rx_stop(tidemill_rx* rx) {
    return carefully([&] {
        given(rx, "rx").packets.disable_backpressure();
        rx->receiver->stop();
        if (rx->config.pushed.threads == 0) rx->packets.close();  // no thread would say so
    });
}

int tidemill_rx_running(const tidemill_rx* rx) {
    return rx && rx->receiver->running();
}

tidemill_status tidemill_rx_join(tidemill_rx* rx, tidemill_rx_report* report) {
    return carefully([&] {
        outside_callback(rx, "tidemill_rx_join()", "join it elsewhere").packets.disable_backpressure();
        const tidemill_rx_report its = told(rx->join());
        if (report) copy_out(its, report, "report");
    });
}

tidemill_status tidemill_rx_now(const tidemill_rx* rx, tidemill_rx_state* state) {
    return carefully([&] { copy_out(told(given(rx, "rx").receiver->now()), state, "state"); });
}
