#include "tidemill/io/live/vita49_sender.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/vita49_source.hpp"

namespace tidemill::io {
namespace {

constexpr double kContextSeconds = 0.1;
constexpr std::uint64_t kPicoseconds = 1'000'000'000'000;

}  // namespace

VitaSender::VitaSender(const std::string& place, const VitaSending& sending)
    : sending_(sending),
      stream_(parse_vita_place(place).stream.value_or(1)),
      socket_(parse_vita_place(place).address) {
    assert(vita_layout(sending.format));
    if (!(sending.sample_rate_hz >= 1 && sending.sample_rate_hz <= 1e10))
        throw IoError(fmt::format("{}: {} samples a second cannot be sent; from 1 to 1e10 can", place,
                                  sending.sample_rate_hz));
}

void VitaSender::write(std::span<const std::byte> samples) {
    while (!samples.empty()) {
        const std::size_t some = std::min(samples.size(), kMostVitaPayloadBytes - waiting_.size());
        waiting_.insert(waiting_.end(), samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(some));
        samples = samples.subspan(some);
        if (waiting_.size() < kMostVitaPayloadBytes) return;
        send_packet(waiting_);
        waiting_.clear();
    }
}

void VitaSender::close() {
    if (waiting_.empty()) return;
    constexpr std::size_t kWordBytes = 4;
    waiting_.resize((waiting_.size() + kWordBytes - 1) / kWordBytes * kWordBytes);
    send_packet(waiting_);
    waiting_.clear();
}

void VitaSender::end() noexcept {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    ends_.notify_all();
}

// A packet leaves when its last sample would have been taken.
void VitaSender::send_packet(std::span<const std::byte> payload) {
    if (!begun_) {
        begun_ = Clock::now();
        begun_utc_ = std::chrono::system_clock::now().time_since_epoch();
    }
    const std::uint64_t samples = payload.size() / dsp::bytes_per_sample(sending_.format);
    if (!wait_for(static_cast<double>(samples_ + samples) / sending_.sample_rate_hz)) return;
    if (samples_ >= next_context_) {
        send_context();
        next_context_ += static_cast<std::uint64_t>(std::ceil(kContextSeconds * sending_.sample_rate_hz));
    }
    send(make_vita_data({.kind = VitaKind::data,
                         .stream = stream_,
                         .count = data_count_++,
                         .time = now(),
                         .payload = payload}));
    samples_ += samples;
}

void VitaSender::send_context() {
    send(make_vita_context({.kind = VitaKind::context,
                            .stream = stream_,
                            .count = context_count_++,
                            .time = now(),
                            .context = {.sample_rate_hz = sending_.sample_rate_hz,
                                        .frequency_hz = sending_.frequency_hz,
                                        .layout = vita_layout(sending_.format)}},
                           samples_ == 0));
}

void VitaSender::send(const std::vector<std::byte>& packet) {
    socket_.send(std::span(reinterpret_cast<const std::uint8_t*>(packet.data()), packet.size()));
}

// False where nobody wants any more to be sent.
bool VitaSender::wait_for(double seconds) {
    std::unique_lock lock(mutex_);
    if (!sending_.is_paced) return !ended_;
    const auto due =
        *begun_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    ends_.wait_until(lock, due, [&] { return ended_; });
    return !ended_;
}

// Time of the next sample. Whole seconds' worth of samples first, so that nothing is rounded away after a
// week.
VitaTime VitaSender::now() const {
    const double rate_hz = sending_.sample_rate_hz;
    const double whole = std::floor(static_cast<double>(samples_) / rate_hz);
    const double rest = std::max(0.0, (static_cast<double>(samples_) - whole * rate_hz) / rate_hz);
    const auto begin_ns =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(begun_utc_).count());
    const std::uint64_t fraction =
        begin_ns % 1'000'000'000 * 1000 +
        static_cast<std::uint64_t>(std::llround(rest * static_cast<double>(kPicoseconds)));
    const std::uint64_t seconds =
        begin_ns / 1'000'000'000 + static_cast<std::uint64_t>(whole) + fraction / kPicoseconds;
    return {.seconds = static_cast<std::uint32_t>(seconds),
            .counts = VitaFraction::picoseconds,
            .fraction = fraction % kPicoseconds};
}

}  // namespace tidemill::io
