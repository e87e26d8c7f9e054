#pragma once

#include <stdexcept>
#include <vector>

#include "tidemill/runtime/verify/testing/explored_memory.hpp"

namespace tidemill::explore {

/// Makes the words that threads share.
class Workshop final : public Machine {
  public:
    Location place(Word initial) override {
        words_.push_back(initial);
        return static_cast<Location>(words_.size() - 1);
    }
    Word perform(const Operation& operation) override {
        Word& word = words_[operation.at];
        const Word before = word;
        if (operation.act == Act::write || changes(operation, word)) word = changed(operation, word);
        return before;
    }
    void landmark(Word) override {}

    const std::vector<Word>& words() const { return words_; }

  private:
    std::vector<Word> words_;
};

/// Answers from a memory in which nothing changes any more.
template <typename Memory>
class Reading final : public Machine {
  public:
    explicit Reading(const Memory& memory) : memory_(memory) {}
    Location place(Word) override { throw std::logic_error("nothing is made when all is over"); }
    Word perform(const Operation& operation) override { return memory_.latest(operation.at); }
    void landmark(Word) override {}

  private:
    const Memory& memory_;
};

/// Puts a copy of what a workshop has made onto the words that lie there.
class SamePlaces final : public Machine {
  public:
    Location place(Word) override { return next_++; }
    Word perform(const Operation&) override { throw std::logic_error("making asks for nothing but places"); }
    void landmark(Word) override {}

  private:
    Location next_ = 0;
};

}  // namespace tidemill::explore
