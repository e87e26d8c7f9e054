#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "tidemill/machine/platform_error.hpp"

namespace tidemill {

/// Says that the system has refused a thread, and what to do.
NoMoreThreads no_more_threads(const std::system_error& refusal);

/// A thread that does `work`. Throws NoMoreThreads where the system has none left: containers and `ulimit -u`
/// limit how many there may be.
template <class Work>
std::jthread start_thread(Work&& work) {
    try {
        return std::jthread(std::forward<Work>(work));
    } catch (const std::system_error& refusal) {
        throw no_more_threads(refusal);
    }
}

}  // namespace tidemill
