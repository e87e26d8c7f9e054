// SPDX-License-Identifier: GPL-3.0-or-later
#include "stream_impl.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/io_signature.h>

namespace gr::tidemill {

namespace {

constexpr std::chrono::microseconds kNap{100};

void check(tidemill_status status) {
    if (status != TIDEMILL_OK) throw std::runtime_error(tidemill_error());
}

}  // namespace

stream::sptr stream::make(const std::string& library, const std::string& text) {
    stream_impl::handle opened(tidemill_stream_open(library.c_str(), text.c_str()), &tidemill_stream_free);
    if (!opened) throw std::invalid_argument(tidemill_error());
    return gnuradio::make_block_sptr<stream_impl>(std::move(opened));
}

stream_impl::stream_impl(handle opened)
    : block("tidemill_stream", io_signature::make(1, 1, tidemill_stream_in_bytes(opened.get())),
            io_signature::make(1, 1, tidemill_stream_out_bytes(opened.get()))),
      d_stream(std::move(opened)) {
    set_tag_propagation_policy(TPP_DONT);
}

bool stream_impl::input_is_over() const {
    return detail()->input(0)->done();
}

// When the input is over there is still something to do without any.
void stream_impl::forecast(int, gr_vector_int& required) {
    required[0] = input_is_over() ? 0 : 1;
}

std::size_t stream_impl::push(const void* items, int count) {
    std::size_t taken = 0;
    check(tidemill_stream_try_push(d_stream.get(), items, static_cast<std::size_t>(count), &taken));
    consume(0, static_cast<int>(taken));
    return taken;
}

int stream_impl::pull(void* items, int room, bool waits) {
    std::size_t got = 0;
    const auto ask = waits ? &tidemill_stream_pull : &tidemill_stream_try_pull;
    check(ask(d_stream.get(), items, static_cast<std::size_t>(room), &got));
    return static_cast<int>(got);
}

// Nothing here waits for the stream to take before it has given, or the other way round: it may want either.
int stream_impl::general_work(int room, gr_vector_int& ninput_items, gr_vector_const_void_star& input_items,
                              gr_vector_void_star& output_items) {
    const int count = ninput_items[0];
    if (!d_ended && input_is_over() && count == 0) {
        check(tidemill_stream_end(d_stream.get()));
        d_ended = true;
    }
    const int given = pull(output_items[0], room, d_ended);
    if (d_ended) {
        if (given > 0) return given;
        check(tidemill_stream_join(d_stream.get()));
        return WORK_DONE;
    }
    if (push(input_items[0], count) == 0 && given == 0) std::this_thread::sleep_for(kNap);
    return given;
}

}  // namespace gr::tidemill
