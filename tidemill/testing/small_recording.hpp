#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/apps/transmission/packet_source.hpp"
#include "tidemill/dvbs2/send/signal_writer.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli::internal {

/// A recording of forty short frames at 1 Msymbol/s, in every way a test may want to spoil it.
struct SmallRecording {
    ScratchFolder folder;
    std::string meta;  ///< path of its metadata
    std::string packets;
    std::uint64_t samples = 0;

    explicit SmallRecording(dsp::SampleFormat format = dsp::SampleFormat::ci8, std::uint64_t frames = 40) {
        PacketSource source = PacketSource::random(frames * 11, 7);  // more than the frames take
        for (auto some = source.next(); !some.empty(); some = source.next()) {
            packets.append(some.begin(), some.end());
        }
        dvbs2::SignalConfig config;
        config.transmitter.pls = {10, dvbs2::FrameSize::short_, true};
        config.channel.esn0_db = 9;
        config.channel.lead_samples = 20000;
        config.channel.tail_samples = 10000;
        config.frames = frames;
        config.format = format;
        meta = folder / "small.sigmf-meta";
        const std::vector<std::uint8_t> bytes(packets.begin(), packets.end());
        samples = dvbs2::write_signal(config, bytes, meta).samples;
    }

    std::string data() const { return folder / "small.sigmf-data"; }
    std::string bytes() const { return ScratchFolder::content_of(data()); }
    std::string metadata() const { return ScratchFolder::content_of(meta); }
};

/// The one that most tests read.
inline const SmallRecording& small_recording() {
    static const SmallRecording recording;
    return recording;
}

}  // namespace tidemill::cli::internal
