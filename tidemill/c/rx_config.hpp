#pragma once

#include <cstddef>

#include "tidemill/c/tidemill.h"
#include "tidemill/dvbs2/receiver/receiver.hpp"

/// A callback and what it is given back.
template <class Call>
struct tidemill_callback {
    Call call = nullptr;
    void* with = nullptr;
};

struct tidemill_rx_config {
    tidemill::dvbs2::PushedConfig pushed{};
    tidemill::dvbs2::ReceiverConfig receiver{};
    tidemill::dvbs2::StreamChoice streams{};
    std::size_t waiting_packets = 4096;
    tidemill_callback<tidemill_packets_callback> on_packets{};
    tidemill_callback<tidemill_frame_callback> on_frame{};
    tidemill_callback<tidemill_symbols_callback> on_symbols{};
    tidemill_callback<tidemill_error_callback> on_error{};
};
