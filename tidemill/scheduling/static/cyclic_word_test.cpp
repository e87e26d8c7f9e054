#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include "tidemill/scheduling/static/schedule.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {
namespace {

std::vector<std::size_t> any_counts() {
    std::vector<std::size_t> counts;
    for (std::size_t left = *rc::gen::inRange<std::size_t>(1, kMostLetters + 1); left > 0;) {
        counts.push_back(*rc::gen::inRange<std::size_t>(1, left + 1));
        left -= counts.back();
    }
    return counts;
}

CyclicWord any_word() {
    const std::vector<std::size_t> counts = any_counts();
    std::vector<std::string> kinds;
    for (std::size_t i = 0; i < counts.size(); ++i)
        kinds.push_back(*rc::gen::element<std::string>("big", "little", "gpu:0"));
    return spread_word(kinds, counts);
}

// How long frames that come one period apart stay with a thread that takes its letters' share of the time for
// each, in parts of a period, after many rounds: step by step.
double longest_stay(const CyclicWord& word, std::size_t thread) {
    const auto length = static_cast<double>(word.letters.size());
    const double work = length / static_cast<double>(word.count(thread));
    double free = 0;
    double longest = 0;
    for (std::uint64_t frame = 0; frame < 40 * word.letters.size(); ++frame) {
        if (word.turns().thread_of(frame) != thread) continue;
        free = std::max(free, static_cast<double>(frame)) + work;
        longest = std::max(longest, free - static_cast<double>(frame));
    }
    return longest;
}

std::string refusal(const std::vector<std::string>& letters) {
    try {
        parse_word(letters);
    } catch (const ScheduleError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("frame k belongs to thread k mod n, or to the one that the word says") {
    const Turns plain(3);
    CHECK(plain.thread_of(7) == 1);
    CHECK(plain.next(7) == 10);
    CHECK(plain.first(2) == 2);
    const Turns by_word({0, 0, 1});
    CHECK(by_word.threads() == 2);
    CHECK(by_word.thread_of(4) == 0);
    CHECK(by_word.thread_of(5) == 1);
    CHECK(by_word.next(1) == 3);
    CHECK(by_word.next(2) == 5);
    CHECK(by_word.first(1) == 2);
    CHECK(plain.frames_per_turn(1) == 3);
    CHECK(by_word.frames_per_turn(0) == 1.5);
    CHECK(by_word.frames_per_turn(1) == 3);
}

TEST_CASE("a thread's frames are those that first and next tell, in order and without a gap") {
    CHECK(rc::check([] {
        const Turns turns =
            *rc::gen::arbitrary<bool>() ? any_word().turns() : Turns(*rc::gen::inRange<std::size_t>(1, 20));
        std::vector<std::uint64_t> next;
        for (std::size_t thread = 0; thread < turns.threads(); ++thread) next.push_back(turns.first(thread));
        for (std::uint64_t frame = 0; frame < 5 * turns.round(); ++frame) {
            const std::size_t thread = turns.thread_of(frame);
            RC_ASSERT(next[thread] == frame);
            next[thread] = turns.next(frame);
        }
    }));
}

TEST_CASE("letters are spread evenly, and threads numbered in the order of their first letters") {
    const auto letters = [](const std::vector<std::string>& kinds, const std::vector<std::size_t>& counts) {
        return fmt::format("{}", fmt::join(letter_names(spread_word(kinds, counts)), " "));
    };
    CHECK(letters({"big", "little"}, {2, 1}) == "big:1 little:1 big:1");
    CHECK(letters({"little", "big"}, {1, 3}) == "big:1 little:1 big:1 big:1");
    CHECK(letters({"big", "big", "little"}, {3, 3, 1}) == "big:1 big:2 big:1 big:2 little:1 big:1 big:2");
    CHECK(rc::check([] {
        const CyclicWord word = any_word();
        RC_ASSERT(fault_of(word).empty());
        RC_ASSERT(parse_word(letter_names(word)) == word);
    }));
}

TEST_CASE("a stage holds as many frames as it has threads, and more where a word lets some wait") {
    CHECK(Turns(5).frames_held() == 5);
    CHECK(Turns({0, 1, 2}).frames_held() == 3);
    CHECK(Turns({0, 0, 1}).frames_held() == 3);
    CHECK(Turns({0, 1, 0, 0, 0, 0, 0, 0}).frames_held() == 8);  // the second thread has each for a round
    CHECK(Turns({0, 0, 0, 1, 1, 1}).frames_held() == 4);
    CHECK(rc::check("as a thread that is busy all the time needs", [] {
        const CyclicWord word = any_word();
        double longest = 0;
        for (std::size_t thread = 0; thread < word.kinds.size(); ++thread)
            longest = std::max(longest, longest_stay(word, thread));
        const double held = std::max(static_cast<double>(word.kinds.size()), std::ceil(longest - 1e-9));
        RC_ASSERT(static_cast<double>(word.turns().frames_held()) == held);
    }));
}

TEST_CASE("what is no word is refused with what was expected") {
    CHECK(refusal({}) == "0 letters, expected 1 to 16 (one for each frame of a round)");
    CHECK(refusal(std::vector<std::string>(17, "big:1")).starts_with("17 letters, expected 1 to 16"));
    for (const char* letter : {"big", ":1", "big:", ""})
        CHECK(refusal({"big:1", letter}) ==
              fmt::format("letter '{}' is not KIND:NUMBER; write for instance \"big:1\"", letter));
    CHECK(fault_of({{"big"}, {}}) == "has 0 letters, expected 1 to 16");
    CHECK(fault_of({{"big", "little"}, {1, 0}}) ==
          "has thread 2 before thread 1, expected them in the order of their numbers");
    CHECK(fault_of({{"big", "little"}, {0, 0}}) ==
          "has letters of 1 threads, expected 2 (one kind of core for each)");
}

}  // namespace tidemill
