#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemill::internal {

/// Data that flows from task to task: what a firing of each end gives and takes. Equal amounts on a binding
/// of frame to frame, whatever the sockets' counts.
struct RateLink {
    std::uint32_t from;
    std::uint32_t to;
    std::uint64_t given;
    std::uint64_t taken;
    std::string text;  ///< for messages
};

/// How often each task fires per frame: the least numbers with which everything that is given is taken.
struct Repetitions {
    std::vector<std::uint64_t> firings;  ///< per task
    std::optional<std::string> fault;    ///< why there are none
};

/// Solves the balance equations of a synchronous dataflow graph (Lee and Messerschmitt, 1987).
Repetitions repetitions_of(std::uint32_t tasks, const std::vector<RateLink>& links);

}  // namespace tidemill::internal
