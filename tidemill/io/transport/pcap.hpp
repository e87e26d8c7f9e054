#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemill::io {

/// Beginning of a file of IP packets for tcpdump and Wireshark: pcap, microseconds, raw IP (LINKTYPE_RAW).
std::vector<std::uint8_t> pcap_header();

/// A packet in such a file.
std::vector<std::uint8_t> pcap_record(std::span<const std::uint8_t> packet,
                                      std::chrono::system_clock::time_point when);

}  // namespace tidemill::io
