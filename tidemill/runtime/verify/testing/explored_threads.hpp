#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Threads of which a search chooses the next to move, and memory of which it decides what is seen.
///
/// Shipped code that asks its machine for words and ways to wait by a template parameter (RealThreads) is
/// compiled here for ExploredThreads: each such request becomes an operation that someone else answers.
namespace tidemill::explore {

using Word = std::uint64_t;
using Location = std::uint32_t;

enum class Act : std::uint8_t {
    load,
    store,
    add,
    flip,
    set,
    exchange,  // if the word is as expected
    swap,      // in any case
    read,      // of what one thread at a time may touch
    write,
    lock,
    unlock,
    sleep,  // while the word is `value`; while asleep in any case, if `expected` is not 0
    wake,
    yield,  // until something that the thread has read since the last time has changed
    note,   // for the judge of the run
    done,
};

/// For traces.
inline std::string_view name_of(Act act) {
    static constexpr std::string_view kNames[] = {"load", "store", "add",   "flip", "set",    "exchange",
                                                  "swap", "read",  "write", "lock", "unlock", "sleep",
                                                  "wake", "yield", "note",  "done"};
    return kNames[static_cast<std::size_t>(act)];
}

/// One request of a thread to its machine.
struct Operation {
    Act act;
    Location at = 0;
    Word value = 0;
    Word expected = 0;
    std::memory_order order = std::memory_order_relaxed;

    bool operator==(const Operation&) const = default;
};

/// Whether code goes on differently by what it is answered.
inline bool is_answered(Act act) {
    return act == Act::load || act == Act::set || act == Act::exchange || act == Act::swap ||
           act == Act::read;
}

class Machine;

/// Resources that code has taken from its machine, and gives back before it asks for anything else.
class Taken {
  public:
    virtual ~Taken() = default;
    virtual void give_back() = 0;
};

/// Answers what code that runs at the moment asks of its machine.
class Machine {
  public:
    virtual ~Machine() = default;
    virtual Location place(Word initial) = 0;
    virtual Word perform(const Operation& operation) = 0;
    /// The code's own state is given by `key`: what it was answered before does not matter any more.
    virtual void landmark(Word key) = 0;

    /// Requests of shared code.
    Word request(const Operation& operation) {
        for (Taken* taken : std::exchange(taken_, {})) taken->give_back();
        return perform(operation);
    }
    void take(Taken& taken) { taken_.push_back(&taken); }

  private:
    std::vector<Taken*> taken_;
};

inline thread_local Machine* machine = nullptr;

/// Puts a machine under all code that runs in this scope.
class RunsOn {
  public:
    explicit RunsOn(Machine& runs) : before_(std::exchange(machine, &runs)) {}
    ~RunsOn() { machine = before_; }
    RunsOn(const RunsOn&) = delete;
    RunsOn& operator=(const RunsOn&) = delete;

  private:
    Machine* before_;
};

/// Values as words: other values are numbered.
template <typename T>
struct Numbering {
    static Word word(const T& value) {
        if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
            return static_cast<Word>(value);
        } else {
            const auto found = std::ranges::find(known(), value);
            if (found != known().end()) return static_cast<Word>(found - known().begin());
            known().push_back(value);
            return known().size() - 1;
        }
    }
    static T value(Word word) {
        if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
            return static_cast<T>(word);
        } else {
            return known()[word];
        }
    }

  private:
    static std::vector<T>& known() {
        static std::vector<T> values;
        return values;
    }
};

/// std::atomic, as far as shipped code uses it. What nobody uses is not answered.
template <typename T>
class ExploredAtomic {
  public:
    ExploredAtomic(T initial)
        : at_(machine->place(static_cast<Word>(initial))) {}  // NOLINT: like std::atomic
    ExploredAtomic(const ExploredAtomic&) = delete;
    ExploredAtomic& operator=(const ExploredAtomic&) = delete;

    /// A word that exists, like std::atomic_ref.
    static ExploredAtomic of(Location at) { return ExploredAtomic(Exists{at}); }

    T load(std::memory_order order) const { return static_cast<T>(perform(Act::load, 0, 0, order)); }
    void store(T value, std::memory_order order) { perform(Act::store, value, 0, order); }
    void fetch_add(T value, std::memory_order order) { perform(Act::add, value, 0, order); }
    void fetch_sub(T value, std::memory_order order) { perform(Act::add, T{} - value, 0, order); }
    void fetch_xor(T value, std::memory_order order) { perform(Act::flip, value, 0, order); }
    T fetch_or(T value, std::memory_order order) {
        return static_cast<T>(perform(Act::set, value, 0, order));
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order) {
        return compare_exchange_strong(expected, value, order);
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order order) {
        const T seen = static_cast<T>(perform(Act::exchange, value, expected, order));
        const bool same = seen == expected;
        expected = seen;
        return same;
    }
    T exchange(T value, std::memory_order order) {
        return static_cast<T>(perform(Act::swap, value, 0, order));
    }

    Location location() const { return at_; }

  private:
    struct Exists {
        Location at;
    };
    explicit ExploredAtomic(Exists word) : at_(word.at) {}

    Word perform(Act act, Word value, Word expected, std::memory_order order) const {
        return machine->request({act, at_, static_cast<Word>(static_cast<T>(value)),
                                 static_cast<Word>(static_cast<T>(expected)), order});
    }

    Location at_;
};

/// A variable that threads touch one after the other.
template <typename T>
class ExploredPlain {
  public:
    ExploredPlain(T initial) : at_(machine->place(Numbering<T>::word(initial))) {}  // NOLINT: like a T
    ExploredPlain(const ExploredPlain&) = delete;
    ExploredPlain& operator=(const ExploredPlain& other) { return *this = static_cast<T>(other); }
    ExploredPlain& operator=(const T& value) {
        machine->request({Act::write, at_, Numbering<T>::word(value)});
        return *this;
    }
    operator T() const {
        return Numbering<T>::value(machine->request({Act::read, at_}));
    }  // NOLINT: like a T

    Location location() const { return at_; }

  private:
    Location at_;
};

/// The same, changed in place: what a thread does to it between two of its other operations is one touch.
template <typename T>
class ExploredGuarded final : public Taken {
  public:
    template <typename... Arguments>
    explicit ExploredGuarded(Arguments&&... arguments)
        : value_(std::forward<Arguments>(arguments)...),
          before_(value_),
          at_(machine->place(Numbering<T>::word(value_))) {}
    ExploredGuarded(const ExploredGuarded&) = delete;
    ExploredGuarded& operator=(const ExploredGuarded&) = delete;

    T& value() {
        touch();
        return value_;
    }
    const T& value() const {
        touch();
        return value_;
    }
    decltype(auto) operator[](std::size_t i) { return value()[i]; }
    decltype(auto) operator[](std::size_t i) const { return value()[i]; }
    std::size_t size() const { return value().size(); }

    void give_back() override {
        is_taken_ = false;
        if (value_ == before_) return;
        before_ = value_;
        machine->perform({Act::write, at_, Numbering<T>::word(value_)});
    }

  private:
    void touch() const {
        if (is_taken_) return;
        if (!(value_ == before_)) throw std::logic_error("code kept a reference while it did something else");
        before_ = value_ = Numbering<T>::value(machine->perform({Act::read, at_}));
        is_taken_ = true;
        machine->take(const_cast<ExploredGuarded&>(*this));  // a look gives back what was there
    }

    mutable T value_;
    mutable T before_;
    mutable bool is_taken_ = false;
    Location at_;
};

template <typename T>
inline constexpr bool kHoldsOthers = requires(T values) {
    values.begin();
};

class ExploredMutex {
  public:
    ExploredMutex() : at_(machine->place(0)) {}
    void lock() { machine->request({Act::lock, at_}); }
    void unlock() { machine->request({Act::unlock, at_}); }

  private:
    Location at_;
};

/// See RealThreads.
struct ExploredThreads {
    template <typename T>
    using Atomic = ExploredAtomic<T>;
    template <typename T>
    using Plain = std::conditional_t<kHoldsOthers<T>, ExploredGuarded<T>, ExploredPlain<T>>;
    using Mutex = ExploredMutex;

    template <typename T>
    static ExploredAtomic<T> shared(ExploredPlain<T>& plain) {
        return ExploredAtomic<T>::of(plain.location());
    }

    // A look more or less before it sleeps or yields leads a thread nowhere else.
    static constexpr int kShortSpin = 0;
    static constexpr int kLongSpin = 1;
    static constexpr int kSpinBeforeYield = 1;

    static void relax() {}
    static void yield_core() { machine->request({Act::yield}); }
    static void sleep_while(const Atomic<std::uint32_t>& word, std::uint32_t seen) {
        machine->request({Act::sleep, word.location(), seen});
    }
    /// A sleep that is over after some time is one that may end by itself: Settings::wakes_by_itself.
    static void sleep_while(const Atomic<std::uint32_t>& word, std::uint32_t seen, long /*at_most_ns*/) {
        sleep_while(word, seen);
    }
    static void wake_all(const Atomic<std::uint32_t>& word) {
        machine->request({Act::wake, word.location()});
    }
};

inline void note(Word what, Word about = 0) {
    machine->request({Act::note, 0, what, about});
}

inline Word mixed(Word hash, Word with) {
    hash = (hash ^ with) * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

}  // namespace tidemill::explore
