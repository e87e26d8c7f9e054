// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef TIDEMILL_GR_STREAM_IMPL_H
#define TIDEMILL_GR_STREAM_IMPL_H

#include <memory>

#include <tidemill/c/tidemill.h>
#include <tidemill_gr/stream.h>

namespace gr::tidemill {

class stream_impl : public stream {
  public:
    using handle = std::unique_ptr<tidemill_stream, void (*)(tidemill_stream*)>;

    explicit stream_impl(handle opened);

    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items, gr_vector_int& ninput_items, gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

  private:
    bool input_is_over() const;
    std::size_t push(const void* items, int count);
    int pull(void* items, int room, bool waits);

    handle d_stream;
    bool d_ended = false;
};

}  // namespace gr::tidemill

#endif
