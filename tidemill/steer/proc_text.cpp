#include "tidemill/steer/proc_text.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/steer/internal/text_numbers.hpp"

namespace tidemill::steer {

namespace {

using internal::Words;

// Flags of proc(5) and sched(7).
constexpr unsigned kPfKthread = 0x00200000;
constexpr unsigned kSchedOther = 0;
constexpr unsigned kSchedBatch = 3;
constexpr unsigned kSchedIdle = 5;

// sched(7): each step of nice is about 10 % of a core, which is this ratio of weights.
constexpr double kWeightPerNice = 1.25;
constexpr double kWeightOfIdle = 3.0 / 1024;

template <class Number>
bool put(std::optional<Number> read, Number& into) {
    if (read) into = *read;
    return read.has_value();
}

// A thread may call itself anything.
std::string plain(std::string_view name) {
    std::string text(name);
    std::ranges::replace_if(
        text, [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
}

}  // namespace

bool ThreadFacts::is_ordinary() const {
    return policy == kSchedOther || policy == kSchedBatch || policy == kSchedIdle;
}

double ThreadFacts::weight() const {
    return policy == kSchedIdle ? kWeightOfIdle : std::pow(kWeightPerNice, -nice);
}

std::optional<ThreadFacts> parse_stat(std::string_view text) {
    // The name may hold brackets and spaces: what follows its last bracket is numbers.
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return std::nullopt;
    ThreadFacts facts{.name = plain(text.substr(open + 1, close - open - 1))};
    Words words(text.substr(close + 1));
    unsigned flags = 0;
    facts.is_running = words.next() == "R";  // field 3
    bool good = put(words.number<int>(), facts.parent);
    words.skip(1);
    good = good && put(words.number<int>(), facts.session);
    words.skip(2);
    good = good && put(words.number<unsigned>(), flags);
    words.skip(9);
    good = good && put(words.number<int>(), facts.nice);
    words.skip(2);
    good = good && put(words.number<std::uint64_t>(), facts.start_ticks);
    words.skip(16);
    good = good && put(words.number<int>(), facts.processor);
    words.skip(1);
    good = good && put(words.number<unsigned>(), facts.policy);
    if (!good || facts.processor < 0 || facts.nice < -20 || facts.nice > 19) return std::nullopt;
    facts.is_kernel_thread = (flags & kPfKthread) != 0;
    return facts;
}

std::optional<ThreadTimes> parse_schedstat(std::string_view text) {
    Words words(text);
    ThreadTimes times;
    if (!put(words.number<std::uint64_t>(), times.ran_ns)) return std::nullopt;
    if (!put(words.number<std::uint64_t>(), times.waited_ns)) return std::nullopt;
    return times;
}

std::vector<int> parse_numbers(std::string_view text) {
    std::vector<int> numbers;
    Words words(text);
    for (std::string_view word = words.next(); !word.empty(); word = words.next())
        if (const auto number = internal::whole_number<int>(word); number && *number > 0)
            numbers.push_back(*number);
    return numbers;
}

}  // namespace tidemill::steer
