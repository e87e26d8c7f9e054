// SPDX-License-Identifier: GPL-3.0-or-later
#include "transmitter_impl.h"

#include <stdexcept>

#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/io_signature.h>

namespace gr::tidemill {

namespace {

constexpr int kPacketBytes = 188;

void check(tidemill_status status) {
    if (status != TIDEMILL_OK) throw std::invalid_argument(tidemill_error());
}

}  // namespace

transmitter::sptr transmitter::make(int modcod, bool short_frames, bool pilots, double rolloff, int gold_code,
                                    int samples_per_symbol) {
    return gnuradio::make_block_sptr<transmitter_impl>(modcod, short_frames, pilots, rolloff, gold_code,
                                                       samples_per_symbol);
}

transmitter_impl::transmitter_impl(int modcod, bool short_frames, bool pilots, double rolloff, int gold_code,
                                   int samples_per_symbol)
    : block("tidemill_transmitter", io_signature::make(1, 1, sizeof(uint8_t)),
            io_signature::make(1, 1, sizeof(gr_complex))) {
    set_tag_propagation_policy(TPP_DONT);
    const std::unique_ptr<tidemill_tx_config, void (*)(tidemill_tx_config*)> config(tidemill_tx_config_new(),
                                                                                    &tidemill_tx_config_free);
    check(tidemill_tx_config_set_modcod(config.get(), modcod));
    check(tidemill_tx_config_set_short_frames(config.get(), short_frames));
    check(tidemill_tx_config_set_pilots(config.get(), pilots));
    check(tidemill_tx_config_set_rolloff(config.get(), rolloff));
    check(tidemill_tx_config_set_gold_code(config.get(), gold_code));
    check(tidemill_tx_config_set_samples_per_symbol(config.get(), samples_per_symbol));
    d_tx = tidemill_tx_new(config.get());
    if (!d_tx) throw std::invalid_argument(tidemill_error());
}

transmitter_impl::~transmitter_impl() {
    tidemill_tx_free(d_tx);
}

bool transmitter_impl::input_is_over() const {
    return detail()->input(0)->done();
}

// Samples that wait go out without any input, and so does the last frame.
void transmitter_impl::forecast(int, gr_vector_int& required) {
    required[0] = input_is_over() || tidemill_tx_waiting(d_tx) > 0 ? 0 : kPacketBytes;
}

int transmitter_impl::send(const uint8_t* bytes, int count) {
    const int packets = count / kPacketBytes;
    if (packets > 0) check(tidemill_tx_send(d_tx, bytes, static_cast<size_t>(packets)));
    consume(0, packets * kPacketBytes);
    return packets;
}

int transmitter_impl::general_work(int room, gr_vector_int& ninput_items,
                                   gr_vector_const_void_star& input_items,
                                   gr_vector_void_star& output_items) {
    const bool over = input_is_over();
    if (tidemill_tx_waiting(d_tx) == 0 && !d_finished) {
        const int sent = send(static_cast<const uint8_t*>(input_items[0]), ninput_items[0]);
        if (over && sent == 0) {
            check(tidemill_tx_finish(d_tx));
            d_finished = true;
        }
    }
    const auto given =
        tidemill_tx_take(d_tx, static_cast<float*>(output_items[0]), static_cast<size_t>(room));
    return given == 0 && d_finished ? WORK_DONE : static_cast<int>(given);
}

}  // namespace gr::tidemill
