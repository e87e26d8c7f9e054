#include "tidemill/dvbs2/sync/internal/kind_history.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace tidemill::dvbs2::internal {

void KindHistory::add(int code) {
    if (codes_.size() == kRemembered) codes_.pop_front();
    codes_.push_back(code);
}

std::vector<int> KindHistory::kinds() const {
    std::vector<int> kinds(codes_.begin(), codes_.end());
    std::ranges::sort(kinds);
    kinds.erase(std::ranges::unique(kinds).begin(), kinds.end());
    return kinds;
}

int KindHistory::predict(std::span<const int> codes) const {
    int likeliest = -1;
    std::ptrdiff_t longest = -1;
    for (auto next = codes_.rbegin(); next != codes_.rend(); ++next) {
        if (std::ranges::find(codes, *next) == codes.end()) continue;
        const auto row = std::mismatch(std::next(next), codes_.rend(), codes_.rbegin());
        const auto length = std::distance(codes_.rbegin(), row.second);
        if (length <= longest) continue;
        longest = length;
        likeliest = *next;
    }
    return likeliest;
}

}  // namespace tidemill::dvbs2::internal
