#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tidemill/dvbs2/streams/stream_outputs.hpp"
#include "tidemill/dvbs2/sync/frame_info.hpp"
#include "tidemill/graph/archive.hpp"

namespace tidemill::dvbs2 {

/// A BBFRAME as it left the decoder.
struct ReceivedFrame {
    const FrameInfo& info;
    float esn0_db;                          ///< between -20 and 60
    int ldpc_iterations;                    ///< sweeps over all checks, the last one counted whole
    std::span<const std::uint8_t> bbframe;  ///< packed, descrambled
    bool good;                              ///< false: more errors than the outer code corrects
};

/// Where what was received goes; called by the one thread that runs the sink.
struct RxOutputs {
    StreamOutputs streams;
    std::function<void(const ReceivedFrame& frame)> frames{};  ///< every frame, also a bad one; may be empty
    StreamChoice choice{};
    /// Called where the sink is kept: whoever writes files keeps where it is in them. May be empty.
    std::function<void(Archive& archive)> keep{};
};

}  // namespace tidemill::dvbs2
