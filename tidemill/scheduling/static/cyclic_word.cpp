#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tidemill/scheduling/static/schedule.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {
namespace {

std::size_t thread_count(const std::vector<std::size_t>& letters) {
    return letters.empty() ? 0 : *std::ranges::max_element(letters) + 1;
}

std::vector<std::size_t> places_of(std::size_t thread, const std::vector<std::size_t>& letters) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < letters.size(); ++i)
        if (letters[i] == thread) places.push_back(i);
    return places;
}

// Longest stay of a frame in a thread whose letters stand at these places of a word so long, in periods and
// rounded up. Frames that came a whole round before delay it no further, as a round's work fits a round.
std::size_t longest_stay(const std::vector<std::size_t>& places, std::size_t length) {
    const std::size_t count = places.size();
    std::size_t most = 0;
    for (std::size_t last = 0; last < count; ++last) {
        for (std::size_t before = 0; before < count; ++before) {
            const std::size_t from = (last + count - before) % count;
            const std::size_t apart = (places[last] + length - places[from]) % length;
            const std::size_t work = (before + 1) * length;
            if (work > count * apart) most = std::max(most, (work - count * apart + count - 1) / count);
        }
    }
    return most;
}

CyclicWord numbered_by_first_letter(std::span<const std::string> kinds,
                                    const std::vector<std::size_t>& letters) {
    CyclicWord word;
    std::map<std::size_t, std::size_t> numbers;
    for (const std::size_t thread : letters) {
        const auto [number, is_new] = numbers.emplace(thread, numbers.size());
        if (is_new) word.kinds.push_back(kinds[thread]);
        word.letters.push_back(number->second);
    }
    return word;
}

std::string kind_of_letter(const std::string& letter) {
    const auto colon = letter.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == letter.size())
        throw ScheduleError(
            fmt::format("letter '{}' is not KIND:NUMBER; write for instance \"big:1\"", letter));
    return letter.substr(0, colon);
}

}  // namespace

Turns::Turns(std::vector<std::size_t> letters)
    : threads_(thread_count(letters)), letters_(std::move(letters)) {
    const std::size_t length = letters_.size();
    for (std::size_t at = 0; at < length; ++at) {
        std::size_t gap = 1;
        while (letters_[(at + gap) % length] != letters_[at]) ++gap;
        gaps_.push_back(gap);
    }
}

std::uint64_t Turns::first(std::size_t thread) const {
    if (letters_.empty()) return thread;
    return static_cast<std::uint64_t>(std::ranges::find(letters_, thread) - letters_.begin());
}

double Turns::frames_per_turn(std::size_t thread) const {
    const auto turns = letters_.empty() ? 1 : std::ranges::count(letters_, thread);
    return static_cast<double>(round()) / static_cast<double>(turns);
}

std::size_t Turns::frames_held(bool has_owners) const {
    std::size_t most = threads_;
    for (std::size_t thread = 0; thread < threads_ && !letters_.empty(); ++thread)
        most = std::max(most, longest_stay(places_of(thread, letters_), letters_.size()));
    return has_owners ? 2 * most : most;
}

std::size_t CyclicWord::count(std::size_t thread) const {
    return static_cast<std::size_t>(std::ranges::count(letters, thread));
}

CyclicWord spread_word(std::span<const std::string> kinds, std::span<const std::size_t> counts) {
    // The i-th of n letters belongs into the middle of the i-th of n equal parts of the word: at (2i + 1) /
    // 2n.
    struct Letter {
        std::size_t thread, odd, count;
    };
    std::vector<Letter> spread;
    for (std::size_t thread = 0; thread < counts.size(); ++thread)
        for (std::size_t i = 0; i < counts[thread]; ++i)
            spread.push_back({thread, 2 * i + 1, counts[thread]});
    std::ranges::stable_sort(
        spread, [](const Letter& a, const Letter& b) { return a.odd * b.count < b.odd * a.count; });
    std::vector<std::size_t> letters;
    for (const Letter& letter : spread) letters.push_back(letter.thread);
    return numbered_by_first_letter(kinds, letters);
}

std::vector<std::string> letter_names(const CyclicWord& word) {
    std::map<std::string, int> of_kind;
    std::vector<std::string> threads;
    for (const std::string& kind : word.kinds) threads.push_back(fmt::format("{}:{}", kind, ++of_kind[kind]));
    std::vector<std::string> names;
    for (const std::size_t thread : word.letters) names.push_back(threads[thread]);
    return names;
}

CyclicWord parse_word(std::span<const std::string> letters) {
    if (letters.empty() || letters.size() > kMostLetters)
        throw ScheduleError(fmt::format("{} letters, expected 1 to {} (one for each frame of a round)",
                                        letters.size(), kMostLetters));
    std::vector<std::string> kinds;
    std::vector<std::size_t> places;  // of each letter's first equal
    for (const std::string& letter : letters) {
        kinds.push_back(kind_of_letter(letter));
        places.push_back(static_cast<std::size_t>(std::ranges::find(letters, letter) - letters.begin()));
    }
    return numbered_by_first_letter(kinds, places);
}

std::string fault_of(const CyclicWord& word) {
    if (word.letters.empty() || word.letters.size() > kMostLetters)
        return fmt::format("has {} letters, expected 1 to {}", word.letters.size(), kMostLetters);
    std::size_t known = 0;
    for (const std::size_t thread : word.letters) {
        if (thread > known)
            return fmt::format("has thread {} before thread {}, expected them in the order of their numbers",
                               thread + 1, known + 1);
        known = std::max(known, thread + 1);
    }
    if (known != word.kinds.size())
        return fmt::format("has letters of {} threads, expected {} (one kind of core for each)", known,
                           word.kinds.size());
    return {};
}

}  // namespace tidemill
