#pragma once

#include <memory>

#include "tidemill/apps/outputs/output_kinds.hpp"
#include "tidemill/io/network/network_address.hpp"

namespace tidemill::cli {

/// Packets in datagrams of seven, or `pieces` in one each. Throws IoError.
std::unique_ptr<ByteOutput> open_udp_output(const io::NetworkAddress& to, const OutputStyle& style,
                                            bool pieces);

/// Packets as RTP, seven in each. Throws IoError.
std::unique_ptr<ByteOutput> open_rtp_output(const io::NetworkAddress& to, const OutputStyle& style,
                                            bool pieces);

/// Packets or pieces for all clients. Throws IoError.
std::unique_ptr<ByteOutput> open_tcp_output(const io::NetworkAddress& at, const OutputStyle& style,
                                            bool pieces);

}  // namespace tidemill::cli
