#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tidemill {

/// How many marks had no room in the lists of a graph's sockets, counted by the threads that run its tasks.
class LostMarks {
  public:
    using Count = std::atomic<std::uint64_t>;

    /// The count of a socket, by its path; stays where it is as long as this lives.
    Count& of(const std::string& socket);

    /// Gives what was counted since the last time, by the sockets' paths, and none that lost nothing.
    std::map<std::string, std::uint64_t> take();

  private:
    std::mutex mutex_;
    std::map<std::string, Count> counts_;
};

}  // namespace tidemill
