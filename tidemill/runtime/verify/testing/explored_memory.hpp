#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tidemill/runtime/verify/testing/explored_threads.hpp"

namespace tidemill::explore {

inline constexpr std::size_t kMostThreads = 8;
inline constexpr std::size_t kMostLocations = 80;

/// An event that must not happen, found in some interleaving.
struct Violation : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Value of a word after an operation on it.
inline Word changed(const Operation& operation, Word word) {
    switch (operation.act) {
        case Act::add:
            return static_cast<std::uint32_t>(word + operation.value);
        case Act::flip:
            return word ^ operation.value;
        case Act::set:
            return word | operation.value;
        case Act::lock:
            return 1;
        case Act::unlock:
            return 0;
        case Act::exchange:
            return word == operation.expected ? operation.value : word;
        default:
            return operation.value;
    }
}

inline bool changes(const Operation& operation, Word word) {
    const Act act = operation.act;
    return act == Act::store || act == Act::add || act == Act::flip || act == Act::set || act == Act::lock ||
           act == Act::unlock || act == Act::swap || (act == Act::exchange && word == operation.expected);
}

/// Memory of which all threads see the same, at once.
class SequentialMemory {
  public:
    static constexpr bool kSeesLatest = true;

    SequentialMemory(std::span<const Word> initial, std::size_t /*threads*/) : size_(initial.size()) {
        if (size_ > kMostLocations) throw std::logic_error("too many locations");
        std::ranges::copy(initial, words_.begin());
    }

    /// In how many ways the operation may go.
    std::size_t ways(std::size_t /*thread*/, const Operation& /*operation*/) const { return 1; }

    /// Returns the word that was there.
    Word perform(std::size_t /*thread*/, const Operation& operation, std::size_t /*way*/) {
        const Word before = words_[operation.at];
        if (operation.act == Act::write || changes(operation, before)) {
            words_[operation.at] = changed(operation, before);
        }
        return before;
    }

    Word latest(Location at) const { return words_[at]; }
    void refresh(std::size_t /*thread*/, Location /*at*/) {}
    void wake(std::size_t /*thread*/, Location /*at*/) {}
    void leave(std::size_t /*thread*/) {}
    void tidy() {}

    Word fingerprint(Word hash) const {
        for (std::size_t i = 0; i < size_; ++i) hash = mixed(hash, words_[i]);
        return hash;
    }

  private:
    std::array<Word, kMostLocations> words_;
    std::size_t size_;
};

/// Memory as C++ promises it and no more: a load may read any store that no other rule forbids.
///
/// Each word keeps its stores in their order, each thread a view: of each word, the oldest store that it may
/// still read. A release store carries its thread's view, and an acquiring thread joins that to its own. A
/// sequentially consistent load reads no store older than the last one that such an operation has seen or
/// made. What one thread at a time may touch must be touched by a thread whose view has the last one's touch.
/// Not shown: stores to one word that take their places otherwise than they are executed, and loads that read
/// what is stored later.
class RelaxedMemory {
  public:
    static constexpr bool kSeesLatest = false;

    RelaxedMemory(std::span<const Word> initial, std::size_t threads) : views_(threads) {
        if (initial.size() > kMostLocations) throw std::logic_error("too many locations");
        for (const Word word : initial) words_.push_back({{{word, {}}}, 0, 0, false});
    }

    std::size_t ways(std::size_t thread, const Operation& operation) const {
        const bool looks = operation.act == Act::load || operation.act == Act::sleep;
        return looks ? words_[operation.at].last() - oldest(thread, operation) + 1u : 1u;
    }

    Word perform(std::size_t thread, const Operation& operation, std::size_t way) {
        if (operation.act == Act::read || operation.act == Act::write) return touch(thread, operation);
        Variable& word = words_[operation.at];
        const Time time = static_cast<Time>(word.last() - way);
        const Store seen = word.at(time);
        see(thread, operation, time, seen);
        if (changes(operation, seen.word)) add(thread, operation, seen);
        return seen.word;
    }

    Word latest(Location at) const { return words_[at].stores.back().word; }

    /// In the end, a thread that waits sees what is there.
    void refresh(std::size_t thread, Location at) { views_[thread][at] = words_[at].last(); }

    /// Whom the thread does not wake, as it has not lain down yet, will see what the thread has: the kernel
    /// looks at words and wakes under one lock.
    void wake(std::size_t thread, Location at) {
        words_[at].agreed = std::max(words_[at].agreed, views_[thread][at]);
    }

    /// The thread looks at nothing any more.
    void leave(std::size_t thread) { views_[thread].fill(kGone); }

    /// Forgets the stores that nobody may read any more.
    void tidy() {
        for (Location at = 0; at < words_.size(); ++at) {
            Variable& word = words_[at];
            const Time oldest = std::clamp(oldest_view(at), word.first, word.last());
            word.stores.erase(word.stores.begin(), word.stores.begin() + (oldest - word.first));
            word.first = oldest;
            if (word.first > kLate) count_anew(at);
        }
    }

    Word fingerprint(Word hash) const {
        for (Location at = 0; at < words_.size(); ++at) {
            const Variable& word = words_[at];
            hash = mixed(hash, word.stores.size() << 8 | since(at, word.agreed));
            for (const Store& store : word.stores) hash = fingerprint(store.view, mixed(hash, store.word));
        }
        for (const View& view : views_) hash = fingerprint(view, hash);
        return hash;
    }

  private:
    using Time = std::uint8_t;
    using View = std::array<Time, kMostLocations>;
    static constexpr Time kGone = 0xff;
    static constexpr Time kLate = 0x80;

    struct Store {
        Word word;
        View view;
    };
    struct Variable {
        std::vector<Store> stores;
        Time first;    // time of the oldest of them
        Time agreed;   // what sequentially consistent operations have seen
        bool touched;  // by one thread at a time: a thread that has seen less than the last touch may not

        Time last() const { return static_cast<Time>(first + stores.size() - 1); }
        const Store& at(Time time) const { return stores[time - first]; }
    };

    static bool is_strong(const Operation& operation) {
        return operation.act == Act::sleep || operation.order == std::memory_order_seq_cst;
    }
    static bool acquires(const Operation& operation) {
        return operation.act == Act::lock || operation.order == std::memory_order_acquire ||
               operation.order == std::memory_order_acq_rel || operation.order == std::memory_order_seq_cst;
    }
    static bool releases(const Operation& operation) {
        return operation.act == Act::unlock || operation.order == std::memory_order_release ||
               operation.order == std::memory_order_acq_rel || operation.order == std::memory_order_seq_cst;
    }
    static void join(View& view, const View& other) {
        for (std::size_t i = 0; i < view.size(); ++i) view[i] = std::max(view[i], other[i]);
    }

    Time oldest(std::size_t thread, const Operation& operation) const {
        const Time seen = views_[thread][operation.at];
        return is_strong(operation) ? std::max(seen, words_[operation.at].agreed) : seen;
    }

    Time oldest_view(Location at) const {
        Time oldest = kGone;
        for (const View& view : views_) oldest = std::min(oldest, view[at]);
        return oldest;
    }

    void see(std::size_t thread, const Operation& operation, Time time, const Store& seen) {
        View& view = views_[thread];
        view[operation.at] = std::max(view[operation.at], time);
        // The kernel's look at a sleeper's word is taken to order nothing else.
        if (acquires(operation) && operation.act != Act::sleep && operation.act != Act::store) {
            join(view, seen.view);
        }
        if (is_strong(operation)) words_[operation.at].agreed = std::max(words_[operation.at].agreed, time);
    }

    void add(std::size_t thread, const Operation& operation, const Store& before) {
        Variable& word = words_[operation.at];
        const Time time = static_cast<Time>(word.last() + 1);
        if (time == kGone) throw std::logic_error("too many stores to one word");
        View& view = views_[thread];
        view[operation.at] = time;
        Store added{changed(operation, before.word), {}};
        if (releases(operation)) added.view = view;
        // A thread that changes a word hands on what the store before it carried.
        if (operation.act != Act::store) join(added.view, before.view);
        added.view[operation.at] = time;
        word.stores.push_back(added);
        if (is_strong(operation)) word.agreed = time;
    }

    Word touch(std::size_t thread, const Operation& operation) {
        Variable& word = words_[operation.at];
        if (views_[thread][operation.at] != word.last()) throw Violation("a data race");
        word.touched = true;
        Store& only = word.stores.back();
        const Word before = only.word;
        if (operation.act == Act::write) only.word = operation.value;
        ++word.first;
        if (word.first == kGone) throw std::logic_error("too many touches of one variable");
        views_[thread][operation.at] = word.first;
        return before;
    }

    // Times of this word begin at 1 again; what is older than all its stores stays so.
    void count_anew(Location at) {
        const auto shift = static_cast<Time>(words_[at].first - 1);
        const auto lower = [=](Time& time) {
            if (time != kGone) time = time > shift ? static_cast<Time>(time - shift) : Time{0};
        };
        lower(words_[at].first);
        lower(words_[at].agreed);
        for (View& view : views_) lower(view[at]);
        for (Variable& word : words_) {
            for (Store& store : word.stores) lower(store.view[at]);
        }
    }

    Time since(Location at, Time time) const {
        const Variable& word = words_[at];
        if (word.touched) return time >= word.first;
        return time > word.first ? static_cast<Time>(time - word.first) : Time{0};
    }
    Word fingerprint(const View& view, Word hash) const {
        Word eight = 0;
        for (Location at = 0; at < words_.size(); ++at) {
            const Time time = view[at] == kGone ? Time{0} : since(at, view[at]);
            eight = eight << 8 | time;
            if (at % 8 == 7) hash = mixed(hash, std::exchange(eight, 0));
        }
        return mixed(hash, eight);
    }

    std::vector<Variable> words_;
    std::vector<View> views_;
};

}  // namespace tidemill::explore
