#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tidemill/io/transport/service_list.hpp"
#include "tidemill/io/transport/ts_aligner.hpp"
#include "tidemill/io/transport/ts_datagrams.hpp"
#include "tidemill/io/transport/ts_monitor.hpp"
#include "tidemill/io/transport/ts_pacer.hpp"
#include "tidemill/io/transport/ts_services.hpp"
#include "tidemill/io/transport/ule_counter.hpp"

namespace {

using namespace tidemill::io;

// Whole packets come out, and every byte is in one or is counted, but for those of 192 and 204.
void check_framing(std::span<const std::uint8_t> bytes) {
    TsAligner aligner;
    TsDatagrams datagrams;
    std::vector<std::uint8_t> aligned, taken;
    const std::size_t half = bytes.size() / 2;
    aligner.push(bytes.first(half), aligned);
    aligner.push(bytes.subspan(half), aligned);
    aligner.finish(aligned);
    datagrams.push(bytes, taken);
    if (aligned.size() % kTsPacketBytes != 0 || taken.size() % kTsPacketBytes != 0) std::abort();
    if (aligned.size() > bytes.size() || taken.size() > bytes.size()) std::abort();
    if (aligner.counts().bytes_left_out > bytes.size()) std::abort();
    if (datagrams.counts().bytes_left_out > bytes.size()) std::abort();
}

}  // namespace

/// For any packets, the monitor counts them all, the names of services stay bounded, and the pacer lets them
/// all go, in order, each when it came.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check_framing({data, size});
    std::vector<std::uint8_t> packets(data, data + size - size % kTsPacketBytes);
    for (std::size_t at = 0; at < packets.size(); at += kTsPacketBytes) packets[at] = kTsSyncByte;
    TsMonitor monitor;
    ServiceList services;
    TsServices rates;
    UleCounter ule;
    TsPacer pacer;
    std::vector<TimedDatagram> datagrams;
    double part_s = 0;
    const std::size_t half = packets.size() / kTsPacketBytes / 2 * kTsPacketBytes;
    for (const auto part : {std::span(packets).first(half), std::span(packets).subspan(half)}) {
        monitor.look(part);
        services.look(part);
        rates.look(part);
        ule.push(part);
        pacer.push(part, part_s, 1, datagrams);
        part_s += 1;
    }
    pacer.finish(datagrams);
    std::vector<std::uint8_t> sent;
    double now_s = 0;
    for (const TimedDatagram& datagram : datagrams) {
        if (!(datagram.due_s >= now_s) || datagram.bytes.size() > kDatagramBytes) std::abort();
        now_s = datagram.due_s;
        sent.insert(sent.end(), datagram.bytes.begin(), datagram.bytes.end());
    }
    if (services.names().size() > ServiceList::kMostServices) std::abort();
    if (rates.services().size() > TsServices::kMostServices) std::abort();
    if (sent != packets || monitor.packets() * kTsPacketBytes != packets.size()) std::abort();
    return 0;
}
