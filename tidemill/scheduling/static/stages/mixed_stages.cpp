#include "tidemill/scheduling/static/stages/mixed_stages.hpp"

#include <algorithm>
#include <optional>

namespace tidemill::internal {
namespace {

constexpr std::int16_t kTooMany = 100;

// floor(x / n) is floor(x * kInverse[n] / 512) for x up to 31 and n up to 16: the inverse is at most 1/512
// too large, and 31 times that is less than the 1/n that x / n is from the next whole number at least.
constexpr int kInverseBits = 9;
constexpr auto kInverse = [] {
    std::array<std::int16_t, kMostLetters + 1> inverse{};
    for (std::size_t n = 1; n < inverse.size(); ++n)
        inverse[n] = static_cast<std::int16_t>((1U << kInverseBits) / n + 1);
    return inverse;
}();

using Counts = std::array<std::int16_t, kMostLetters>;  // of the last kind, for each number of the other

void take_other_alone(Counts& needed, int left, int letters) {
    for (std::size_t count = 0; count < needed.size(); ++count)
        if (static_cast<int>(count) * letters >= left) needed[count] = 0;
}

// Sixteen small numbers, so that vectors have them all.
void take_both(Counts& needed, std::int16_t left, std::int16_t others, std::int16_t letters) {
    const std::int16_t inverse = kInverse[static_cast<std::size_t>(letters)];
    auto rest = static_cast<std::int16_t>(left + letters - 1);  // rounds up
    for (std::int16_t& own : needed) {
        const auto positive = std::max<std::int16_t>(rest, 0);
        own = std::min(own, static_cast<std::int16_t>(positive * inverse >> kInverseBits));
        rest = static_cast<std::int16_t>(rest - others);
    }
}

}  // namespace

MixedStages::MixedStages(const ExactChain& chain) : chain_(chain), most_letters_(chain.most_letters) {
    for (std::size_t pool = 0; pool < chain.pools.size() && most_letters_ > 0; ++pool) {
        if (!chain.pools[pool].mixes) continue;
        const std::size_t cores = chain.pools[pool].cores(chain.pools[pool].units);
        pools_.push_back({.pool = pool, .cores = static_cast<int>(std::min(cores, most_letters_ - 1))});
    }
}

void MixedStages::set_limit(const PeriodLimit& limit) {
    for (std::size_t length = 1; any() && length <= most_letters_; ++length)
        capacity_[length - 1] = capacity(limit, length);
}

bool MixedStages::find(std::size_t begin, std::size_t end) {
    found_.clear();
    steps_ = pools_.size();
    for (Pool& pool : pools_) weigh(pool, begin, end);
    if (!all_would_do()) return false;
    Letters left{};
    for (std::size_t i = 0; i < most_letters_; ++i) left[i] = static_cast<std::int16_t>(i + 1);
    choose(0, left);
    return true;
}

// One thread that has a letter in a word of n means that n threads of the kind do it alone.
void MixedStages::weigh(Pool& pool, std::size_t begin, std::size_t end) const {
    const std::size_t kind = chain_.pools[pool.pool].whole;
    pool.letters.fill(0);
    pool.most = 0;
    if (chain_.able_begin(kind, end) > begin) return;
    const std::uint64_t weight = chain_.weight(kind, begin, end);
    std::int16_t letters = 0;
    for (std::size_t i = 0; i < most_letters_; ++i) {
        while (letters <= static_cast<int>(i) && (letters + 1U) * weight <= capacity_[i]) ++letters;
        pool.letters[i] = letters;
        if (letters > 0 && pool.most == 0) pool.most = std::min(pool.cores, static_cast<int>(i)) + 1;
    }
    pool.most = std::max(0, pool.most - 1);
}

bool MixedStages::all_would_do() const {
    for (std::size_t i = 0; i < most_letters_; ++i) {
        int letters = 0;
        for (const Pool& pool : pools_) letters += pool.cores * pool.letters[i];
        if (letters > static_cast<int>(i)) return true;
    }
    return false;
}

void MixedStages::choose(std::size_t place, const Letters& left) {
    if (place + 2 == pools_.size()) return choose_last_two(left);
    Pool& pool = pools_[place];
    Letters rest = left;
    for (pool.count = 0; pool.count <= pool.most; ++pool.count) {
        choose(place + 1, rest);
        for (std::size_t i = 0; i < most_letters_; ++i)
            rest[i] = static_cast<std::int16_t>(rest[i] - pool.letters[i]);
    }
    pool.count = 0;
}

void MixedStages::choose_last_two(const Letters& left) {
    ++steps_;
    Pool& last = pools_.back();
    Pool& other = pools_[pools_.size() - 2];
    const Counts needed = needed_of_last(left);
    for (other.count = 0; other.count <= other.most; ++other.count) {
        const auto count = static_cast<std::size_t>(other.count);
        last.count = needed[count];
        if (last.count > last.most || (count > 0 && needed[count - 1] == last.count) || !is_least()) continue;
        MixedCores cores;
        for (const Pool& pool : pools_) cores.add(pool.pool, static_cast<std::size_t>(pool.count));
        found_.push_back(cores);
    }
}

// How few of the last kind do the rest, for each number of cores of the one before it: all numbers at once,
// as this is where the time goes.
MixedStages::Counts MixedStages::needed_of_last(const Letters& left) const {
    const Pool& last = pools_.back();
    const Pool& other = pools_[pools_.size() - 2];
    Counts needed;
    needed.fill(kTooMany);
    for (std::size_t i = 0; i < most_letters_; ++i) {
        if (other.most * other.letters[i] + last.most * last.letters[i] < left[i]) continue;
        if (last.letters[i] == 0)
            take_other_alone(needed, left[i], other.letters[i]);
        else
            take_both(needed, left[i], other.letters[i], last.letters[i]);
    }
    return needed;
}

// That none of the last two can be less is known.
bool MixedStages::is_least() const {
    return std::none_of(pools_.begin(), pools_.end() - 2,
                        [&](const Pool& pool) { return pool.count > 0 && would_do_without(pool); });
}

// Whether one core of a kind less is enough.
bool MixedStages::would_do_without(const Pool& one) const {
    for (std::size_t i = 0; i < most_letters_; ++i) {
        int letters = -one.letters[i];
        for (const Pool& pool : pools_) letters += pool.count * pool.letters[i];
        if (letters > static_cast<int>(i)) return true;
    }
    return false;
}

namespace {

struct Thread {
    std::size_t pool;
    std::uint64_t weight;
    std::uint64_t letters = 0;

    std::uint64_t with_one_more() const { return (letters + 1) * weight; }
};

std::vector<Thread> threads_of(const ExactChain& chain, std::size_t begin, std::size_t end,
                               MixedCores cores) {
    std::vector<Thread> threads;
    for (std::size_t pool = 0; pool < chain.pools.size(); ++pool)
        for (std::size_t i = 0; chain.pools[pool].mixes && i < cores.of(pool); ++i)
            threads.push_back({pool, chain.weight(chain.pools[pool].whole, begin, end)});
    return threads;
}

}  // namespace

// CyclicWord by word a letter longer: the letter goes where it makes the busiest thread least busy, which is
// best for each length, since what a thread takes grows with its letters alone.
BestWord best_word(const ExactChain& chain, std::size_t begin, std::size_t end, MixedCores cores) {
    std::vector<Thread> threads = threads_of(chain, begin, end, cores);
    std::optional<Ratio> best;
    BestWord word;
    std::uint64_t busiest = 0;
    for (std::uint64_t length = 1; length <= chain.most_letters; ++length) {
        Thread& next = *std::ranges::min_element(threads, {}, &Thread::with_one_more);
        busiest = std::max(busiest, next.with_one_more());
        ++next.letters;
        if (length < threads.size() || (best && *best <= Ratio{busiest, length})) continue;
        best = word.period = {busiest, length};
        word.pools.clear();
        word.letters.clear();
        for (const Thread& thread : threads) {
            word.pools.push_back(thread.pool);
            word.letters.push_back(thread.letters);
        }
    }
    return word;
}

}  // namespace tidemill::internal
