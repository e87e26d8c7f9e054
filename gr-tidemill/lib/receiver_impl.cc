// SPDX-License-Identifier: GPL-3.0-or-later
#include "receiver_impl.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/io_signature.h>

namespace gr::tidemill {

namespace {

constexpr std::size_t kMostWaiting = 4 << 20;  // bytes: with more than that, no samples are taken
// By this GNU Radio sizes the buffer before the block: two such portions. Fewer samples are passed on as they come.
constexpr uint64_t kSamplesAtATime = 131072;
constexpr std::chrono::milliseconds kStatusEvery{500};

const pmt::pmt_t& status_port() {
    static const pmt::pmt_t port = pmt::mp("status");
    return port;
}

const pmt::pmt_t& symbols_port() {
    static const pmt::pmt_t port = pmt::mp("symbols");
    return port;
}

void check(tidemill_status status) {
    if (status != TIDEMILL_OK) throw std::invalid_argument(tidemill_error());
}

}  // namespace

receiver::sptr receiver::make(double sample_rate, double symbol_rate, double rolloff, int gold_code,
                              int threads, bool symbols) {
    return gnuradio::make_block_sptr<receiver_impl>(sample_rate, symbol_rate, rolloff, gold_code, threads,
                                                    symbols);
}

receiver_impl::receiver_impl(double sample_rate, double symbol_rate, double rolloff, int gold_code,
                             int threads, bool symbols)
    : block("tidemill_receiver", io_signature::make(1, 1, sizeof(gr_complex)),
            io_signature::make(1, 1, sizeof(uint8_t))) {
    message_port_register_out(status_port());
    message_port_register_out(symbols_port());
    set_tag_propagation_policy(TPP_DONT);
    set_relative_rate(1, kSamplesAtATime);
    const std::unique_ptr<tidemill_rx_config, void (*)(tidemill_rx_config*)> config(tidemill_rx_config_new(),
                                                                                    &tidemill_rx_config_free);
    check(tidemill_rx_config_set_sample_rate(config.get(), sample_rate));
    check(tidemill_rx_config_set_symbol_rate(config.get(), symbol_rate));
    check(tidemill_rx_config_set_rolloff(config.get(), rolloff));
    check(tidemill_rx_config_set_gold_code(config.get(), gold_code));
    check(tidemill_rx_config_set_threads(config.get(), threads < 0 ? 0 : static_cast<size_t>(threads)));
    check(tidemill_rx_config_set_waiting(config.get(), 0, 1));  // samples wait in the buffer before the block
    check(tidemill_rx_config_on_packets(config.get(), &keep_packets, this));
    if (symbols) check(tidemill_rx_config_on_symbols(config.get(), &publish_symbols, this));
    d_rx = tidemill_rx_new(config.get());
    if (!d_rx) throw std::invalid_argument(tidemill_error());
}

receiver_impl::~receiver_impl() {
    tidemill_rx_free(d_rx);
}

// The receiver's thread never waits here, so pushing cannot lock up: back-pressure is that nothing is pushed.
void receiver_impl::keep_packets(void* with, const uint8_t* packets, size_t count, int) {
    auto& self = *static_cast<receiver_impl*>(with);
    const std::lock_guard<std::mutex> lock(self.d_mutex);
    self.d_packets.insert(self.d_packets.end(), packets, packets + count * 188);
}

void receiver_impl::publish_symbols(void* with, const float* symbols, size_t count) {
    const auto* const points = reinterpret_cast<const gr_complex*>(symbols);
    static_cast<receiver_impl*>(with)->message_port_pub(
        symbols_port(), pmt::cons(pmt::make_dict(), pmt::init_c32vector(count, points)));
}

bool receiver_impl::input_is_over() const {
    return detail()->input(0)->done();
}

// When the input is over there is still something to do without any.
void receiver_impl::forecast(int, gr_vector_int& required) {
    required[0] = input_is_over() ? 0 : 1;
}

void receiver_impl::push(const gr_complex* samples, int count) {
    if (count == 0) return;
    if (tidemill_rx_push(d_rx, samples, static_cast<size_t>(count)) != TIDEMILL_OK)
        throw std::runtime_error(tidemill_error());
    consume(0, count);
}

std::size_t receiver_impl::waiting() {
    const std::lock_guard<std::mutex> lock(d_mutex);
    return d_packets.size() - d_given;
}

int receiver_impl::give(uint8_t* to, int room) {
    const std::lock_guard<std::mutex> lock(d_mutex);
    const std::size_t count = std::min<std::size_t>(room, d_packets.size() - d_given);
    if (count > 0) std::memcpy(to, d_packets.data() + d_given, count);
    d_given += count;
    if (d_given == d_packets.size()) {
        d_packets.clear();
        d_given = 0;
    }
    return static_cast<int>(count);
}

int receiver_impl::general_work(int room, gr_vector_int& ninput_items, gr_vector_const_void_star& input_items,
                                gr_vector_void_star& output_items) {
    const bool over = input_is_over();
    const int count = ninput_items[0];
    if (waiting() < kMostWaiting) push(static_cast<const gr_complex*>(input_items[0]), count);
    if (over && count == 0 && !d_joined) {
        d_joined = true;
        if (tidemill_rx_join(d_rx, nullptr) != TIDEMILL_OK) throw std::runtime_error(tidemill_error());
    }
    publish_status(d_joined);
    const int given = give(static_cast<uint8_t*>(output_items[0]), room);
    return given == 0 && d_joined ? WORK_DONE : given;
}

void receiver_impl::publish_status(bool always) {
    const auto now = std::chrono::steady_clock::now();
    if (!always && now - d_told < kStatusEvery) return;
    d_told = now;
    tidemill_rx_state state{};
    state.size = sizeof(state);
    if (tidemill_rx_now(d_rx, &state) != TIDEMILL_OK) return;
    pmt::pmt_t told = pmt::make_dict();
    const auto add = [&](const char* name, const pmt::pmt_t& value) {
        told = pmt::dict_add(told, pmt::mp(name), value);
    };
    add("found", pmt::from_bool(state.found != 0));
    add("locked", pmt::from_bool(state.locked != 0));
    add("frames", pmt::from_uint64(state.frames));
    add("frames_bad", pmt::from_uint64(state.frames_bad));
    add("esn0_db", pmt::from_double(state.esn0_db));
    add("frequency_hz", pmt::from_double(state.frequency_hz));
    add("clock_ppm", pmt::from_double(state.clock_ppm));
    if (const char* const modcod = tidemill_modcod_name(state.modcod)) add("modcod", pmt::mp(modcod));
    message_port_pub(status_port(), told);
}

}  // namespace gr::tidemill
