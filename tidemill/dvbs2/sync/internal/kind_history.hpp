#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace tidemill::dvbs2::internal {

/// The kinds of the latest frames of a signal, by their PLS codes, and what they predict of the next.
class KindHistory {
  public:
    void add(int code);

    /// Each kind once.
    std::vector<int> kinds() const;

    /// Kind that is likely to come next, of some: the one that followed the longest row of kinds like the
    /// latest ones, and of equally long ones the last. -1 where none of them is known.
    int predict(std::span<const int> codes) const;

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("codes", codes_);
    }

  private:
    static constexpr std::size_t kRemembered = 128;

    std::deque<int> codes_;  // the latest last
};

}  // namespace tidemill::dvbs2::internal
