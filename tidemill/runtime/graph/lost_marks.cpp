#include "tidemill/runtime/graph/lost_marks.hpp"

namespace tidemill {

LostMarks::Count& LostMarks::of(const std::string& socket) {
    const std::lock_guard lock(mutex_);
    return counts_[socket];
}

std::map<std::string, std::uint64_t> LostMarks::take() {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::uint64_t> lost;
    for (auto& [socket, count] : counts_)
        if (const std::uint64_t marks = count.exchange(0)) lost[socket] = marks;
    return lost;
}

}  // namespace tidemill
