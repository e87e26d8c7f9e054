#include "tidemill/apps/outputs/output_kinds.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/apps/outputs/file_outputs.hpp"
#include "tidemill/apps/outputs/network_outputs.hpp"
#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/outputs/queued_output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/files/number_text.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/network/network_address.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::cli {

namespace {

/// A kind of place on the network.
struct OutputKind {
    std::string_view scheme;
    bool takes_pieces;  ///< also other than a transport stream
    io::NetworkAddress (*parse)(std::string_view scheme, const std::string& place);
    std::unique_ptr<ByteOutput> (*open)(const io::NetworkAddress&, const OutputStyle&, bool pieces);
};

constexpr OutputKind kOutputKinds[] = {
    {"udp", true, io::parse_datagram_url, open_udp_output},
    {"rtp", false, io::parse_datagram_url, open_rtp_output},
    {"tcp-listen", true, io::parse_network_url, open_tcp_output},
};

const OutputKind* kind_of(const std::string& place) {
    const auto* const found = std::ranges::find_if(
        kOutputKinds, [&](const OutputKind& kind) { return io::is_network_url(kind.scheme, place); });
    return found == std::end(kOutputKinds) ? nullptr : found;
}

io::NetworkAddress address_of(const OutputKind& kind, const std::string& place) {
    try {
        return kind.parse(kind.scheme, place);
    } catch (const io::IoError& error) {
        throw WrongUsage(error.what());
    }
}

std::unique_ptr<ByteOutput> open_directly(const std::string& place, const OutputStyle& style, bool pieces) {
    const OutputKind* const kind = kind_of(place);
    if (!kind)
        return writing([&] { return open_file_output(place, style, pieces ? 1 : io::kTsPacketBytes); });
    if (pieces && !kind->takes_pieces)
        throw WrongUsage(
            fmt::format("{}: {}:// is for transport streams; give udp:// or a file", place, kind->scheme));
    const io::NetworkAddress address = address_of(*kind, place);
    return writing([&] { return kind->open(address, style, pieces); });
}

}  // namespace

bool is_network_output(const std::string& place) {
    return kind_of(place) != nullptr;
}

// A thread of its own sends pieces when they are due, so that the receiver works meanwhile.
std::unique_ptr<ByteOutput> open_output(const std::string& place, const OutputStyle& style, bool pieces) {
    constexpr double kAhead_s = 0.5;  // of a recording
    std::unique_ptr<ByteOutput> output = open_directly(place, style, pieces);
    const bool waits = style.when_full == io::WhenFull::wait;
    const bool paced = style.paced && is_network_output(place);
    if (!output->may_wait() || (waits && !paced)) return output;
    QueueLimits limits{.when_full = style.when_full};
    if (waits) limits.signal_s = kAhead_s;
    return std::make_unique<QueuedOutput>(std::move(output), style.hurry, limits);
}

std::optional<std::string> place_of_stream(const std::string& place, int stream) {
    constexpr int kLastPort = 65535;
    if (const OutputKind* const kind = kind_of(place)) {
        io::NetworkAddress address = address_of(*kind, place);
        if (address.port + stream > kLastPort) return std::nullopt;
        address.port = static_cast<std::uint16_t>(address.port + stream);
        const std::size_t settings = std::min(place.find('?'), place.size());
        return io::network_url(kind->scheme, address) + place.substr(settings);
    }
    const std::filesystem::path path(place);
    return (path.parent_path() /
            fmt::format("{}.isi{}{}", path.stem().string(), stream, path.extension().string()))
        .string();
}

io::RollLimits parse_roll(const std::string& text) {
    constexpr double kLeastBytes = 1e4, kMostBytes = 1e15, kMostSeconds = 366 * 86400.0;
    if (text.ends_with('B')) {
        const auto bytes = io::real_number(text.substr(0, text.size() - 1));
        if (bytes && *bytes >= kLeastBytes && *bytes <= kMostBytes)
            return {.bytes = static_cast<std::uint64_t>(*bytes)};
    } else if (const auto age_s = io::seconds_in(text);
               age_s && !io::real_number(text) && *age_s >= 1 && *age_s <= kMostSeconds) {
        return {.age = std::chrono::seconds(static_cast<std::int64_t>(*age_s))};
    }
    throw WrongUsage(
        fmt::format("--roll {}: give a time from 1s on, like 1h, or a size from 10kB on, like 500MB", text));
}

}  // namespace tidemill::cli
