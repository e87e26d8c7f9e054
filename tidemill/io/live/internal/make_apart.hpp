#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace tidemill::io::internal {

/// Makes something by what may take long and cannot be stopped, as a driver that opens a radio, on a thread
/// of its own. Once `ended` says so nobody waits for it any more: nothing is returned, and what is made in
/// the end is destroyed by that thread. Throws what `make` throws.
template <class Made>
std::optional<Made> make_apart(std::function<Made()> make, const std::function<bool()>& ended) {
    constexpr std::chrono::milliseconds kLook{50};  // the caller that wants the end waits no longer
    std::packaged_task<Made()> task(std::move(make));
    std::future<Made> made = task.get_future();
    std::thread(std::move(task)).detach();
    while (made.wait_for(kLook) != std::future_status::ready)
        if (ended()) return std::nullopt;
    return made.get();
}

}  // namespace tidemill::io::internal
