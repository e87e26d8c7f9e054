#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemill {

/// Letters of a word at most: what its frames in flight cost grows with them, and what longer ones gain is
/// little.
inline constexpr std::size_t kMostLetters = 16;

/// Which thread of a stage has a frame.
class Turns {
  public:
    /// Each of so many threads in turn: frame k belongs to thread k mod threads.
    explicit Turns(std::size_t threads) : threads_(threads) {}

    /// As the letters of a word say, over and over: frame k belongs to thread letters[k mod letters.size()].
    /// Threads count from 0, and each has a letter.
    explicit Turns(std::vector<std::size_t> letters);

    std::size_t threads() const { return threads_; }

    /// Frames after which all repeats.
    std::size_t round() const { return letters_.empty() ? threads_ : letters_.size(); }

    std::size_t thread_of(std::uint64_t frame) const {
        return static_cast<std::size_t>(letters_.empty() ? frame % threads_
                                                         : letters_[frame % letters_.size()]);
    }

    /// The first frame of a thread.
    std::uint64_t first(std::size_t thread) const;

    /// The next frame of the thread that has this one.
    std::uint64_t next(std::uint64_t frame) const;

    /// Frames that the stage has to hold at a time so that each thread can be at work always; the number of
    /// threads where they go in turn.
    ///
    /// With so many tokens for each stage a pipeline's period is that of its slowest stage. Proof: let frames
    /// come to a stage one period apart. A thread with c of L letters may take L/c periods for each, else it
    /// would be slower than the period, and does its frames in order; so none stays longer than D, the
    /// largest of (j + 1) L/c minus the distance of a letter from the thread's j-th letter before it. If each
    /// frame leaves D after it came, the next stage's come one period apart, too, and frame k can begin at k
    /// periods where there are at least as many tokens as the sum of all D. A frame that goes on as soon as
    /// it can is never later than that.
    std::size_t frames_held() const;

  private:
    std::size_t threads_;
    std::vector<std::size_t> letters_{};  // empty: in turn
};

/// Whose turn it is in a stage whose threads sit on cores of several kinds: a thread's share of the frames is
/// that of its letters. Threads are numbered in the order of their first letters.
struct CyclicWord {
    std::vector<std::string> kinds;    // [thread]: of its core
    std::vector<std::size_t> letters;  // threads

    bool operator==(const CyclicWord&) const = default;

    /// How many letters a thread has.
    std::size_t count(std::size_t thread) const;

    Turns turns() const { return Turns(letters); }
};

/// The word in which each thread has so many letters, spread evenly. Threads that are equal but for their
/// numbers are numbered anew.
CyclicWord spread_word(std::span<const std::string> kinds, std::span<const std::size_t> counts);

/// Its letters as schedules name them: "big:1", "big:1", "little:1", each kind's threads counted from 1.
std::vector<std::string> letter_names(const CyclicWord& word);

/// The word of such letters: a kind, a colon, and whatever tells that kind's threads apart. Throws
/// ScheduleError for what is no letter, for more than kMostLetters and for none.
CyclicWord parse_word(std::span<const std::string> letters);

/// What is wrong with a word that nobody parsed, as "has ..., expected ..."; empty when nothing is.
std::string fault_of(const CyclicWord& word);

}  // namespace tidemill
