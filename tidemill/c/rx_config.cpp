#include "tidemill/c/rx_config.hpp"

#include <cmath>
#include <new>

#include <fmt/format.h>

#include "tidemill/c/formats.hpp"
#include "tidemill/c/status.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"

using namespace tidemill;
using tidemill::c::CallError;
using tidemill::c::carefully;
using tidemill::c::given;

namespace {

double rate(double value_hz) {
    if (!std::isfinite(value_hz) || value_hz < 0)
        throw CallError(fmt::format("a rate of {} Hz: give more, or 0 where it is not known", value_hz));
    return value_hz;
}

dvbs2::StreamChoice choice_of(int stream, dvbs2::StreamChoice now) {
    if (stream < -2 || stream > 255)
        throw CallError(
            fmt::format("input stream {}: give 0 to 255, -1 for the first or -2 for all", stream));
    now.all = stream == -2;
    now.only.reset();
    if (stream >= 0) now.only = static_cast<std::uint8_t>(stream);
    return now;
}

template <class Call>
tidemill_status keep(tidemill_rx_config* config, tidemill_callback<Call> tidemill_rx_config::*which,
                     Call call, void* with) {
    return carefully([&] { given(config, "config").*which = {call, with}; });
}

}  // namespace

tidemill_rx_config* tidemill_rx_config_new(void) {
    return new (std::nothrow) tidemill_rx_config;
}

void tidemill_rx_config_free(tidemill_rx_config* config) {
    delete config;
}

tidemill_status tidemill_rx_config_set_sample_rate(tidemill_rx_config* config, double rate_hz) {
    return carefully([&] { given(config, "config").pushed.sample_rate_hz = rate(rate_hz); });
}

tidemill_status tidemill_rx_config_set_symbol_rate(tidemill_rx_config* config, double rate_hz) {
    return carefully([&] { given(config, "config").receiver.symbol_rate_hz = rate(rate_hz); });
}

tidemill_status tidemill_rx_config_set_rolloff(tidemill_rx_config* config, double rolloff) {
    return carefully([&] {
        if (!(rolloff > 0 && rolloff <= 1))
            throw CallError(fmt::format("a roll-off of {}: give more than 0 and at most 1", rolloff));
        given(config, "config").receiver.rolloff = rolloff;
    });
}

tidemill_status tidemill_rx_config_set_gold_code(tidemill_rx_config* config, int gold_code) {
    return carefully(
        [&] {
            (void)dvbs2::PlScrambler(gold_code);
            given(config, "config").receiver.gold_code = gold_code;
        },
        TIDEMILL_REFUSED);
}

tidemill_status tidemill_rx_config_set_tuned(tidemill_rx_config* config, double frequency_hz) {
    return carefully([&] {
        if (!std::isfinite(frequency_hz))
            throw CallError(fmt::format("tuned to {} Hz: give a number", frequency_hz));
        given(config, "config").receiver.tuned_hz = frequency_hz;
    });
}

tidemill_status tidemill_rx_config_set_format(tidemill_rx_config* config, tidemill_format format) {
    return carefully([&] {
        const auto known = c::format_of(format);
        if (!known) throw CallError(fmt::format("there is no sample format {}", static_cast<int>(format)));
        given(config, "config").pushed.format = *known;
    });
}

tidemill_status tidemill_rx_config_set_threads(tidemill_rx_config* config, size_t threads) {
    return carefully([&] {
        if (threads > 1024) throw CallError(fmt::format("{} threads: give at most 1024", threads));
        given(config, "config").pushed.threads = threads;
    });
}

tidemill_status tidemill_rx_config_set_waiting(tidemill_rx_config* config, size_t samples, size_t packets) {
    constexpr std::size_t kMost = std::size_t{1} << 28;
    return carefully([&] {
        if (packets == 0 || samples > kMost || packets > kMost)
            throw CallError(
                fmt::format("room for {} samples and {} packets: give at most {} samples and 1 to {} packets",
                            samples, packets, kMost, kMost));
        tidemill_rx_config& kept = given(config, "config");
        kept.pushed.waiting_samples = samples;
        kept.waiting_packets = packets;
    });
}

tidemill_status tidemill_rx_config_set_stream(tidemill_rx_config* config, int stream) {
    return carefully([&] {
        tidemill_rx_config& kept = given(config, "config");
        kept.streams = choice_of(stream, kept.streams);
    });
}

tidemill_status tidemill_rx_config_set_keep_damaged(tidemill_rx_config* config, int keep_them) {
    return carefully([&] {
        given(config, "config").streams.damaged =
            keep_them ? dvbs2::DamagedPacket::mark : dvbs2::DamagedPacket::drop;
    });
}

tidemill_status tidemill_rx_config_on_packets(tidemill_rx_config* config, tidemill_packets_callback call,
                                              void* with) {
    return keep(config, &tidemill_rx_config::on_packets, call, with);
}

tidemill_status tidemill_rx_config_on_frame(tidemill_rx_config* config, tidemill_frame_callback call,
                                            void* with) {
    return keep(config, &tidemill_rx_config::on_frame, call, with);
}

tidemill_status tidemill_rx_config_on_symbols(tidemill_rx_config* config, tidemill_symbols_callback call,
                                              void* with) {
    return keep(config, &tidemill_rx_config::on_symbols, call, with);
}

tidemill_status tidemill_rx_config_on_error(tidemill_rx_config* config, tidemill_error_callback call,
                                            void* with) {
    return keep(config, &tidemill_rx_config::on_error, call, with);
}
