// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef TIDEMILL_GR_TRANSMITTER_IMPL_H
#define TIDEMILL_GR_TRANSMITTER_IMPL_H

#include <cstdint>

#include <tidemill/c/tidemill.h>
#include <tidemill_gr/transmitter.h>

namespace gr::tidemill {

class transmitter_impl : public transmitter {
  public:
    transmitter_impl(int modcod, bool short_frames, bool pilots, double rolloff, int gold_code,
                     int samples_per_symbol);
    ~transmitter_impl() override;

    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items, gr_vector_int& ninput_items, gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

  private:
    bool input_is_over() const;
    int send(const uint8_t* bytes, int count);

    tidemill_tx* d_tx = nullptr;
    bool d_finished = false;
};

}  // namespace gr::tidemill

#endif
