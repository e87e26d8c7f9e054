#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "tidemill/runtime/verify/testing/explored_threads.hpp"

namespace tidemill::explore {

/// 64-bit fingerprints of states; among 10^7 states two are confused with a probability of 10^-6.
class Visited {
  public:
    /// False when the state was there already.
    bool insert(Word fingerprint) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        const bool added = put(fingerprint | 1);  // 0 marks a free slot
        count_ += added;
        return added;
    }
    std::size_t size() const { return count_; }

  private:
    bool put(Word key) {
        std::size_t at = (key >> 1) & (slots_.size() - 1);
        for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at] == key) return false;
        }
        slots_[at] = key;
        return true;
    }

    void grow() {
        std::vector<Word> old(slots_.size() * 2);
        std::swap(old, slots_);
        for (const Word key : old) {
            if (key != 0) put(key);
        }
    }

    std::vector<Word> slots_ = std::vector<Word>(1024);
    std::size_t count_ = 0;
};

}  // namespace tidemill::explore
