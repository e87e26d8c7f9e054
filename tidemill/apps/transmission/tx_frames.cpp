#include "tidemill/apps/transmission/tx_frames.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/transmission/tx_output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::cli {

namespace {

// Whether null packets fill a signal without data; they cannot where they are deleted or mean nothing.
bool fills_with_nulls(const TxDataOptions& data) {
    return data.idle == Idle::null_packets && !data.generic_bytes && !data.delete_nulls;
}

// Filled with null packets, a stream has the rate of the signal; otherwise only its sender knows it.
double packet_period_symbols(const TxDataOptions& data, double symbol_rate_hz, std::size_t packet_bytes) {
    if (fills_with_nulls(data)) return 0;
    if (!data.input_rate_mbps)
        throw WrongUsage(
            "--issy needs the times of packets, which are unknown here: give --input-rate, or let null "
            "packets "
            "fill the signal");
    return 8 * static_cast<double>(packet_bytes) * symbol_rate_hz / (*data.input_rate_mbps * 1e6);
}

bool waits_outside(const TxFraming& how) {
    return std::ranges::any_of(how.inputs, [](const NamedInput& each) { return each.input->may_wait(); });
}

}  // namespace

dvbs2::InputStream kind_of(const TxDataOptions& data, const TxSignalOptions& signal) {
    dvbs2::InputStream stream;
    stream.delete_null_packets = data.delete_nulls;
    stream.issy_bytes = data.issy_bytes;
    if (data.generic_bytes) {
        stream.packet_bytes = static_cast<std::size_t>(*data.generic_bytes);
        stream.sync = static_cast<std::uint8_t>(data.sync_byte);
        stream.type = stream.packet_bytes > 0 ? dvbs2::StreamType::generic_packetised
                                              : dvbs2::StreamType::generic_continuous;
    }
    if (stream.issy_bytes > 0)
        stream.packet_period_symbols =
            packet_period_symbols(data, signal.symbol_rate_hz, stream.packet_bytes);
    return stream;
}

std::size_t unit_bytes(const dvbs2::InputStream& stream) {
    return std::max<std::size_t>(1, stream.packet_bytes);
}

TxFrames::TxFrames(const TxFraming& how)
    : Module("frames"),
      may_wait_(waits_outside(how)),
      how_(how),
      unit_bytes_(unit_bytes(kind_of(how.signal.data, how.signal.options))) {}

double TxFrames::signal_s() const {
    return static_cast<double>(symbols_sent_) / how_.signal.options.symbol_rate_hz;
}

bool TxFrames::is_done() const {
    const bool time_is_up =
        how_.signal.options.most_seconds && signal_s() >= *how_.signal.options.most_seconds;
    return time_is_up || std::ranges::all_of(how_.inputs, &NamedInput::drained);
}

Flow TxFrames::make_frame(Frame f) {
    if (how_.signal.options.burst_frames > 0 && frames_of_burst_ == how_.signal.options.burst_frames)
        fall_silent();
    std::optional<dvbs2::OutgoingFrame> frame;
    while (!frame) {
        if (is_done() || f.stopping()) return Flow::stop;
        frame = next();
    }
    f[about] = {.pls_code = frame->pls.code(),
                .behind_rest = rest_samples_.has_value(),
                .rest_samples = rest_samples_.value_or(0)};
    if (std::exchange(rest_samples_, {})) ++bursts_;
    std::ranges::copy(frame->bbframe, f[bbframe].resize(frame->bbframe.size()).begin());
    const auto symbols = static_cast<std::uint64_t>(layout_of(frame->pls).symbols);
    symbols_sent_ += symbols;
    samples_given_ += symbols * static_cast<std::uint64_t>(how_.signal.options.samples_per_symbol);
    ++frames_of_burst_;
    frames_.store(how_.signal.multiplexer.counts().frames, std::memory_order_relaxed);
    return Flow::ok;
}

// None where an input turned out to have ended.
std::optional<dvbs2::OutgoingFrame> TxFrames::next() {
    const auto stream = how_.signal.multiplexer.next_stream();
    if (!stream) return how_.signal.multiplexer.next();
    NamedInput& input = how_.inputs[*stream];
    if (how_.waits_for_signal && input.input->is_live()) wait_for_signal();
    feed(*stream, input);
    return next_of(input);
}

std::optional<dvbs2::OutgoingFrame> TxFrames::next_of(NamedInput& input) {
    dvbs2::Multiplexer& multiplexer = how_.signal.multiplexer;
    if (auto full = multiplexer.next()) return full;
    if (input.input->ended()) {
        if (auto padded = multiplexer.next_padded()) return padded;
        input.drained = true;
        multiplexer.skip();
        return {};
    }
    if (fills_with_nulls(how_.signal.data)) return multiplexer.next_with_null_packets();
    return multiplexer.dummy();
}

// Silence until the next burst is due, by the samples alone: so bursts lie where they should, however long it
// lasts.
void TxFrames::fall_silent() {
    const TxSignalOptions& signal = how_.signal.options;
    samples_given_ += how_.tail_samples;
    const double every = signal.burst_every_s * sample_rate_hz(signal);
    const auto due = static_cast<std::uint64_t>(std::llround(static_cast<double>(bursts_ + 1) * every));
    if (due < samples_given_)
        throw WrongUsage(
            fmt::format("--burst-every: {} frames last longer than {} s: send fewer, or less often",
                        signal.burst_frames, signal.burst_every_s));
    rest_samples_ = due - samples_given_;
    samples_given_ = due;
    symbols_sent_ = due / static_cast<std::uint64_t>(signal.samples_per_symbol);
    frames_of_burst_ = 0;
}

// Data of a live input must have had the time to come before they are sent.
void TxFrames::wait_for_signal() {
    constexpr double kLongS = 1e9;
    if (!start_) start_ = Clock::now();
    const std::chrono::duration<double> lasted(std::min(signal_s(), kLongS));
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, *start_ + std::chrono::duration_cast<Clock::duration>(lasted),
                     [this] { return ended_; });
}

void TxFrames::end() noexcept {
    for (const NamedInput& each : how_.inputs) each.input->end();
    {
        const std::scoped_lock lock(mutex_);
        ended_ = true;
    }
    wake_.notify_all();
}

// Takes what fills the frame, as far as it is there; of null packets that are deleted, any number.
void TxFrames::feed(std::size_t stream, NamedInput& input) {
    const dvbs2::Multiplexer& multiplexer = how_.signal.multiplexer;
    while (multiplexer.missing_bytes() > 0) {
        const std::size_t units = (multiplexer.missing_bytes() + unit_bytes_ - 1) / unit_bytes_;
        const auto bytes = input.input->take(units * unit_bytes_, signal_s());
        if (bytes.empty()) return;
        feed(stream, input.name, bytes);
    }
}

void TxFrames::feed(std::size_t stream, const std::string& name, std::span<const std::uint8_t> bytes) {
    try {
        how_.signal.multiplexer.feed(stream, bytes);
    } catch (const dvbs2::Dvbs2Error& error) {
        throw io::IoError(
            fmt::format("'{}' cannot be sent: {}, behind {} bytes", name, error.what(), bytes_taken_));
    }
    bytes_taken_ += bytes.size();
    if (how_.copy) writing([&] { how_.copy->write(bytes); });
}

}  // namespace tidemill::cli
