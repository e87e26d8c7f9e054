#include "tidemill/io/live/rtl_tcp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/byte_stream_source.hpp"
#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/io/live/reopened_source.hpp"

namespace tidemill::io {
namespace {

// The server's greeting: "RTL0", the tuner's type, how many gains it has; a command: its number and a value,
// most significant byte first (rtl_tcp.c of librtlsdr).
constexpr std::size_t kGreetingBytes = 12;
enum class Command : std::uint8_t {
    frequency_hz = 0x01,
    sample_rate_hz = 0x02,
    gain_is_manual = 0x03,
    gain_tenth_db = 0x04,
    correction_ppm = 0x05,
    digital_agc = 0x08,
    bias_tee = 0x0e,
};

std::uint32_t whole(double value, const char* what) {
    const double rounded = std::round(value);
    if (rounded >= 0 && rounded <= std::numeric_limits<std::uint32_t>::max())
        return static_cast<std::uint32_t>(rounded);
    throw IoError(fmt::format("{} of {} Hz: rtl_tcp takes 0 to 2^32 - 1", what, value));
}

void command(InputStream& connection, Command command, std::uint32_t value) {
    std::array<std::byte, 5> bytes{static_cast<std::byte>(command)};
    for (std::size_t i = 0; i < 4; ++i) bytes[1 + i] = static_cast<std::byte>(value >> (24 - 8 * i));
    connection.tell(bytes);
}

void set_gain(InputStream& connection, double gain_db) {
    command(connection, Command::gain_is_manual, 1);
    command(connection, Command::gain_tenth_db,
            static_cast<std::uint32_t>(static_cast<std::int32_t>(std::lround(gain_db * 10))));
}

// False where the stream ended before anybody greeted.
bool set_up(InputStream& connection, const RadioSettings& settings) {
    const std::uint32_t frequency_hz = whole(settings.frequency_hz, "a frequency");
    const std::uint32_t sample_rate_hz = whole(settings.sample_rate_hz, "a sample rate");
    std::array<std::byte, kGreetingBytes> greeting{};
    const std::size_t got = connection.read(greeting);
    if (got == 0) return false;
    if (got < greeting.size() || std::memcmp(greeting.data(), "RTL0", 4) != 0)
        throw IoError("the other end is no rtl_tcp: its greeting does not begin with RTL0");
    command(connection, Command::sample_rate_hz, sample_rate_hz);
    command(connection, Command::frequency_hz, frequency_hz);
    command(connection, Command::correction_ppm, static_cast<std::uint32_t>(settings.correction_ppm));
    command(connection, Command::digital_agc, settings.digital_agc);
    if (settings.gain_db)
        set_gain(connection, *settings.gain_db);
    else
        command(connection, Command::gain_is_manual, 0);
    command(connection, Command::bias_tee, settings.bias_tee);
    return true;
}

// The protocol does not list the gains; tuners of these radios have 0 to 50 dB.
SourceControl gain_control(const RadioSettings& settings) {
    constexpr double kMostGainDb = 50;
    const double gain_db = settings.gain_db.value_or(0);
    return {"gain_db", gain_db, std::min(0.0, gain_db), std::max(kMostGainDb, gain_db)};
}

}  // namespace

bool is_rtl_tcp(const std::filesystem::path& place) {
    return place.string().starts_with("rtl_tcp://");
}

std::unique_ptr<LiveSource> open_rtl_tcp(const LiveRequest& request) {
    const auto open = [request]() -> std::unique_ptr<LiveSource> {
        return std::make_unique<ByteStreamSource>(
            request.place, dsp::SampleFormat::cu8, request.radio.sample_rate_hz,
            [settings = request.radio](InputStream& connection) { return set_up(connection, settings); },
            ByteStreamSource::Adjustment{gain_control(request.radio), set_gain},
            ByteStreamSource::Patience{});
    };
    if (request.reopens) return std::make_unique<ReopenedSource>(request.place, open);
    return open();
}

}  // namespace tidemill::io
