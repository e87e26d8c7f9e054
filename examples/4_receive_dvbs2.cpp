// Receives a DVB-S2 recording: samples in, transport stream out.
// usage: 4_receive_dvbs2 RECORDING OUTPUT.ts

#include <fmt/core.h>

#include "tidemill/dvbs2.hpp"
#include "tidemill/tidemill.hpp"

using namespace tidemill;

namespace {

void receive(const char* recording, const char* output) {
    io::RecordingReader reader(io::open_recording(recording));
    io::TsWriter writer(output);
    dvbs2::Receiver receiver(reader, {},
                             [&](std::span<const std::uint8_t> packets) { writer.write(packets); });
    Sequence(receiver.graph()).run();
    writer.close();

    const dvbs2::ReceptionReport report = receiver.report();
    fmt::print("{} frames, {} bad, Es/N0 {:.1f} dB, {} packets\n", report.totals.frames,
               report.totals.frames_bad, report.totals.esn0_db(), report.packets.packets);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: {} RECORDING OUTPUT.ts\n", argv[0]);
        return 2;
    }
    try {
        receive(argv[1], argv[2]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
