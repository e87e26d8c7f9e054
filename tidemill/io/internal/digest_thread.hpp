#pragma once

#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

#include "tidemill/platform/start_thread.hpp"

namespace tidemill::io::internal {

/// How the thread of a digest is started: as below, unless a test refuses it one.
using StartThread = std::function<std::jthread(std::function<void(const std::stop_token&)>)>;

inline std::jthread start_digest_thread(std::function<void(const std::stop_token&)> work) {
    return start_thread(std::move(work));
}

}  // namespace tidemill::io::internal
