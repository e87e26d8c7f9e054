// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef TIDEMILL_GR_RECEIVER_IMPL_H
#define TIDEMILL_GR_RECEIVER_IMPL_H

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include <tidemill/c/tidemill.h>
#include <tidemill_gr/receiver.h>

namespace gr::tidemill {

class receiver_impl : public receiver {
  public:
    receiver_impl(double sample_rate, double symbol_rate, double rolloff, int gold_code, int threads,
                  bool symbols);
    ~receiver_impl() override;

    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items, gr_vector_int& ninput_items, gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

  private:
    static void keep_packets(void* with, const uint8_t* packets, size_t count, int stream);
    static void publish_symbols(void* with, const float* symbols, size_t count);

    bool input_is_over() const;
    void push(const gr_complex* samples, int count);
    int give(uint8_t* to, int room);
    std::size_t waiting();
    void publish_status(bool always);

    tidemill_rx* d_rx = nullptr;
    bool d_joined = false;
    std::mutex d_mutex;
    std::vector<uint8_t> d_packets;  // that came by callback
    std::size_t d_given = 0;         // of these
    std::chrono::steady_clock::time_point d_told{};
};

}  // namespace gr::tidemill

#endif
