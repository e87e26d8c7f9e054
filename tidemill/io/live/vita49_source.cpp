#include "tidemill/io/live/vita49_source.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

constexpr std::string_view kScheme = "vita49";

std::uint32_t stream_number(const std::string& place, std::string_view text) {
    const bool is_hex = text.starts_with("0x");
    if (is_hex) text.remove_prefix(2);
    std::uint32_t number = 0;
    const auto [stopped, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, is_hex ? 16 : 10);
    if (error == std::errc() && stopped == text.data() + text.size()) return number;
    throw IoError(fmt::format("'{}': stream= takes a number below 2^32, such as 7 or 0x1f", place));
}

VitaSettings settings_of(const LiveRequest& request) {
    const VitaAddress place = parse_vita_place(request.place);
    return {.stream = place.stream,
            .any_class = place.any_class,
            .format = request.format,
            .sample_rate_hz = request.sample_rate_hz};
}

}  // namespace

bool is_vita_place(const std::string& place) {
    return place.starts_with(std::string(kScheme) + "://");
}

VitaAddress parse_vita_place(const std::string& text) {
    constexpr std::array<std::string_view, 4> kNames{"interface", "ttl", "stream", "class"};
    NetworkEndpoint read = parse_network_place(kScheme, text, kNames);
    take_group_settings(text, read);
    VitaAddress place{.address = read.address};
    if (read.settings.contains("stream")) place.stream = stream_number(text, read.settings["stream"]);
    if (!read.settings.contains("class")) return place;
    if (read.settings["class"] != "any")
        throw IoError(fmt::format("'{}': class= takes 'any'; without it, DIFI's are read", text));
    place.any_class = true;
    return place;
}

VitaSource::VitaSource(const LiveRequest& request, std::chrono::milliseconds patience)
    : place_(request.place),
      patience_(patience),
      stream_(settings_of(request)),
      receiver_(parse_vita_place(request.place).address) {}

std::optional<double> VitaSource::sample_rate_hz() const {
    if (!stream_.has_begun()) return std::nullopt;
    return stream_.sample_rate_hz();
}

// False where nothing has come.
bool VitaSource::take_next(std::optional<std::chrono::milliseconds> at_most) {
    auto datagram = receiver_.next();
    if (datagram.empty() && receiver_.wait(at_most)) datagram = receiver_.next();
    if (datagram.empty()) return false;
    const std::lock_guard lock(mutex_);
    stream_.take(std::as_bytes(datagram));
    return true;
}

SampleLosses VitaSource::losses() const {
    const std::lock_guard lock(mutex_);
    return stream_.losses();
}

std::optional<double> VitaSource::center_frequency_hz() const {
    const std::lock_guard lock(mutex_);
    return stream_.frequency_hz();
}

std::string VitaSource::trouble() const {
    const std::lock_guard lock(mutex_);
    return stream_.trouble();
}

std::string VitaSource::remarks() const {
    const std::lock_guard lock(mutex_);
    return stream_.counts().remarks();
}

bool VitaSource::begin() {
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> since;  // data came that nobody understands
    while (!stream_.has_begun()) {
        std::optional<std::chrono::milliseconds> left;
        if (since) left = std::chrono::ceil<std::chrono::milliseconds>(*since + patience_ - Clock::now());
        if (left && left->count() <= 0)
            throw IoError(fmt::format("{}: in {} s, {}", place_,
                                      static_cast<double>(patience_.count()) / 1000, stream_.missing()));
        take_next(left);
        if (receiver_.ended()) return false;
        if (!since && stream_.counts().early > 0) since = Clock::now();
    }
    return true;
}

std::size_t VitaSource::read(std::span<std::byte> to) {
    const std::size_t sample_bytes = dsp::bytes_per_sample(stream_.format());
    std::size_t got = 0;
    while (to.size() - got >= sample_bytes && !receiver_.ended()) {
        const std::size_t some = stream_.read(to.subspan(got));
        got += some;
        if (some > 0) continue;
        // Packets that have come already are taken along.
        if (got == 0)
            take_next({});
        else if (!take_next(std::chrono::milliseconds(0)))
            return got;
    }
    if (got > 0) return got;
    const std::lock_guard lock(mutex_);
    stream_.finish();
    return stream_.read(to);
}

std::unique_ptr<LiveSource> open_vita(const LiveRequest& request) {
    return std::make_unique<VitaSource>(request);
}

}  // namespace tidemill::io
