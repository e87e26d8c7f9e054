#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "tidemill/c/status.hpp"
#include "tidemill/c/tidemill.h"
#include "tidemill/dvbs2/send/transmitter.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

using namespace tidemill;
using tidemill::c::CallError;
using tidemill::c::carefully;
using tidemill::c::given;

struct tidemill_tx_config {
    dvbs2::TransmitterConfig settings{.pls = {.modcod = 4}};
};

struct tidemill_tx {
    explicit tidemill_tx(const tidemill_tx_config& config) : transmitter(config.settings) {}

    dvbs2::Transmitter transmitter;
    std::vector<dsp::Iq> samples{};
    std::size_t taken = 0;  // of these
    bool finished = false;
};

namespace {

// Room of packets that were taken is freed.
void forget_taken(tidemill_tx& tx) {
    tx.samples.erase(tx.samples.begin(), tx.samples.begin() + static_cast<std::ptrdiff_t>(tx.taken));
    tx.taken = 0;
}

void check_packets(std::span<const std::uint8_t> packets) {
    for (std::size_t at = 0; at < packets.size(); at += io::kTsPacketBytes) {
        if (packets[at] == io::kTsSyncByte) continue;
        throw CallError(fmt::format(
            "packet {} begins with {:#04x}; give whole packets of {} bytes, which begin with {:#04x}",
            at / io::kTsPacketBytes, packets[at], io::kTsPacketBytes, io::kTsSyncByte));
    }
}

tidemill_tx& open(tidemill_tx* tx) {
    if (given(tx, "tx").finished) throw CallError("the signal was finished; make another transmitter");
    return *tx;
}

}  // namespace

tidemill_tx_config* tidemill_tx_config_new(void) {
    return new (std::nothrow) tidemill_tx_config;
}

void tidemill_tx_config_free(tidemill_tx_config* config) {
    delete config;
}

tidemill_status tidemill_tx_config_set_modcod(tidemill_tx_config* config, int number) {
    return carefully([&] {
        if (!dvbs2::find_modcod(number))
            throw CallError(fmt::format("MODCOD {}: give a number from 1 to 28", number));
        given(config, "config").settings.pls.modcod = number;
    });
}

tidemill_status tidemill_tx_config_set_short_frames(tidemill_tx_config* config, int short_frames) {
    return carefully([&] {
        given(config, "config").settings.pls.size =
            short_frames ? dvbs2::FrameSize::short_ : dvbs2::FrameSize::normal;
    });
}

tidemill_status tidemill_tx_config_set_pilots(tidemill_tx_config* config, int pilots) {
    return carefully([&] { given(config, "config").settings.pls.pilots = pilots != 0; });
}

tidemill_status tidemill_tx_config_set_gold_code(tidemill_tx_config* config, int gold_code) {
    return carefully([&] { given(config, "config").settings.gold_code = gold_code; });
}

tidemill_status tidemill_tx_config_set_rolloff(tidemill_tx_config* config, double rolloff) {
    return carefully([&] { given(config, "config").settings.rolloff = rolloff; });
}

tidemill_status tidemill_tx_config_set_samples_per_symbol(tidemill_tx_config* config, int samples) {
    return carefully([&] { given(config, "config").settings.samples_per_symbol = samples; });
}

tidemill_tx* tidemill_tx_new(const tidemill_tx_config* config) {
    return c::made_carefully([&] { return std::make_unique<tidemill_tx>(given(config, "config")); });
}

void tidemill_tx_free(tidemill_tx* tx) {
    delete tx;
}

tidemill_status tidemill_tx_send(tidemill_tx* tx, const uint8_t* packets, size_t count) {
    return carefully([&] {
        tidemill_tx& to = open(tx);
        if (count == 0) return;
        const std::span whole(&given(packets, "packets"), c::bytes_of(count, io::kTsPacketBytes, "packets"));
        check_packets(whole);
        forget_taken(to);
        to.transmitter.transmit(whole, to.samples);
    });
}

tidemill_status tidemill_tx_finish(tidemill_tx* tx) {
    return carefully([&] {
        tidemill_tx& to = open(tx);
        forget_taken(to);
        to.transmitter.finish(to.samples);
        to.finished = true;
    });
}

size_t tidemill_tx_waiting(const tidemill_tx* tx) {
    return tx ? tx->samples.size() - tx->taken : 0;
}

size_t tidemill_tx_take(tidemill_tx* tx, float* samples, size_t room) {
    if (!tx || !samples) return 0;
    const std::size_t count = std::min(room, tidemill_tx_waiting(tx));
    dsp::copy_samples(std::span(tx->samples).subspan(tx->taken, count),
                      {reinterpret_cast<dsp::Iq*>(samples), count});
    tx->taken += count;
    return count;
}
