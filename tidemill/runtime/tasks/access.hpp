#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tidemill/base/error.hpp"

namespace tidemill {

/// A task program that cannot be run as it is written.
class TasksError : public Error {
  public:
    using Error::Error;
};

/// Access of a task to a piece of memory. Pieces may overlap: tasks wait for each other where they share
/// bytes that one of them changes. What is named each time as the same piece costs least. A piece of no bytes
/// is none.
struct Access {
    enum class Mode : std::uint8_t { in, out, inout, commutative, concurrent, reduction };

    const void* address;
    std::size_t bytes;
    Mode mode;
    const void* operation = nullptr;  ///< of a reduction: distinguishes reductions

    bool changes() const { return mode != Mode::in; }
    /// Whether tasks that say the same of a piece, with no others in between, have no order among them.
    bool shares() const { return mode > Mode::inout; }
};

/// Why no task can do all of this; empty where one can.
std::string contradiction(std::span<const Access> accesses);

template <class T>
class Version;
template <class T, class Combine>
class Reduction;

namespace internal {

template <class T>
inline constexpr bool kNamesMemory = false;
template <class T>
inline constexpr bool kNamesMemory<Version<T>> = true;
template <class T, class Combine>
inline constexpr bool kNamesMemory<Reduction<T, Combine>> = true;

template <class T>
Access access_of(const T& piece, Access::Mode mode) {
    static_assert(!kNamesMemory<T>, "give a Version itself, and a Reduction to reduces()");
    if constexpr (std::ranges::contiguous_range<T> && std::ranges::sized_range<T>) {
        return {std::ranges::data(piece), std::ranges::size(piece) * sizeof(std::ranges::range_value_t<T>),
                mode};
    } else {
        return {&piece, sizeof(piece), mode};
    }
}

}  // namespace internal

/// in: the task reads the elements of a span or vector, or an object.
template <class T>
Access reads(const T& piece) {
    return internal::access_of(piece, Access::Mode::in);
}
/// out: it writes them, and does not look at what was there.
template <class T>
Access writes(const T& piece) {
    return internal::access_of(piece, Access::Mode::out);
}
/// inout: it changes them.
template <class T>
Access updates(const T& piece) {
    return internal::access_of(piece, Access::Mode::inout);
}
/// commutative: it changes them, in any order with those before and behind it that say the same, though never
/// at the same time. What comes out is as in the program's order only as far as the order is no matter.
template <class T>
Access commutes(const T& piece) {
    return internal::access_of(piece, Access::Mode::commutative);
}
/// concurrent: it changes them, at the same time as others that say the same: how is their own affair, by
/// atomics, say.
template <class T>
Access shares(const T& piece) {
    return internal::access_of(piece, Access::Mode::concurrent);
}

/// Renaming: memory that one write of a Renamed has for itself, or that a task reads or updates. To be named
/// among a task's accesses and held by its function, which may use it while the task runs.
template <class T>
class Version {
  public:
    Version(std::shared_ptr<T> memory, Access::Mode mode) : memory_(std::move(memory)), mode_(mode) {}

    T& operator*() const { return *memory_; }
    T* operator->() const { return memory_.get(); }
    operator Access() const { return {memory_.get(), sizeof(T), mode_}; }

  private:
    std::shared_ptr<T> memory_;
    Access::Mode mode_;
};

/// A value of which each write has memory of its own, so that it need not wait for those that read or write
/// the value before. There are as many copies as writes in flight, or held. Belongs to the program's thread.
/// Tasks that did not run, after a cancel or a throw, have not written theirs.
template <class T>
class Renamed {
  public:
    /// New memory holds a copy of `first`; memory that is used again, what was there.
    explicit Renamed(T first = {}) : spare_(std::make_shared<Spare>(std::move(first))) { write(); }

    /// out: what is read from here on is what this writes.
    Version<T> write() {
        now_ = Spare::take(spare_);
        return {now_, Access::Mode::out};
    }
    /// inout: it changes what was written last.
    Version<T> update() { return {now_, Access::Mode::inout}; }
    /// in
    Version<const T> read() const { return {now_, Access::Mode::in}; }

    /// Value that was written last. To be looked at when no task is in flight.
    T& value() { return *now_; }

  private:
    // Memory that nobody holds any more.
    class Spare {
      public:
        explicit Spare(T first) : first_(std::move(first)) {}

        static std::shared_ptr<T> take(const std::shared_ptr<Spare>& from) {
            return {from->any().release(), [from](T* memory) { from->keep(memory); }};
        }

      private:
        std::unique_ptr<T> any() {
            const std::lock_guard lock(mutex_);
            if (kept_.empty()) return std::make_unique<T>(first_);
            std::unique_ptr<T> last = std::move(kept_.back());
            kept_.pop_back();
            return last;
        }
        void keep(T* memory) {
            const std::lock_guard lock(mutex_);
            kept_.emplace_back(memory);
        }

        std::mutex mutex_;
        T first_;
        std::vector<std::unique_ptr<T>> kept_;
    };

    std::shared_ptr<Spare> spare_;
    std::shared_ptr<T> now_;
};

namespace internal {

/// Throws TasksError for a task that names a reduction and whose function is not one made by reducing() with
/// it: it would work on the value itself, while others do.
[[noreturn]] void refuse_reduction_not_added_to(std::size_t access);

// Parts that a reduction's tasks share. Parts are numbered as their tasks are spawned, and combined in that
// order: by a task that is at its end, as far as they are there, while others leave theirs and go.
template <class T, class Combine>
class ReducedParts {
  public:
    ReducedParts(T& target, Combine combine, T neutral)
        : target_(target), combine_(std::move(combine)), neutral_(std::move(neutral)) {}

    const T& target() const { return target_; }

    bool is_neutral() {
        if constexpr (!std::equality_comparable<T>) return true;
        T both = neutral_;
        join(both, neutral_);
        return both == neutral_;
    }

    std::uint64_t next_number() {
        const std::lock_guard lock(mutex_);
        parts_.emplace_back();
        return first_ + parts_.size() - 1;
    }

    std::unique_ptr<T> make_copy() {
        std::unique_ptr<T> copy;
        {
            const std::lock_guard lock(mutex_);
            if (!spare_.empty()) {
                copy = std::move(spare_.back());
                spare_.pop_back();
            }
        }
        if (!copy) return std::make_unique<T>(neutral_);
        *copy = neutral_;
        return copy;
    }

    // No copy: the task has nothing to add. Throws what combining threw.
    void give(std::uint64_t number, std::unique_ptr<T> copy) {
        std::unique_lock lock(mutex_);
        parts_[number - first_] = {std::move(copy), true};
        if (std::exchange(combining_, true)) return;
        std::exception_ptr failure;
        while (!parts_.empty() && parts_.front().given) {
            std::unique_ptr<T> next = std::move(parts_.front().copy);
            parts_.pop_front();
            ++first_;
            if (next) add(std::move(next), lock, failure);
        }
        combining_ = false;
        if (failure) std::rethrow_exception(failure);
    }

  private:
    struct Part {
        std::unique_ptr<T> copy{};
        bool given = false;
    };

    void join(T& into, const T& part) {
        if constexpr (std::is_void_v<std::invoke_result_t<Combine&, T&, const T&>>) {
            combine_(into, part);
        } else {
            into = combine_(std::as_const(into), part);
        }
    }

    void add(std::unique_ptr<T> part, std::unique_lock<std::mutex>& lock, std::exception_ptr& failure) {
        lock.unlock();
        try {
            join(target_, *part);
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
        lock.lock();
        spare_.push_back(std::move(part));
    }

    T& target_;
    Combine combine_;
    T neutral_;
    std::mutex mutex_;
    std::deque<Part> parts_;   // of tasks that are not combined yet
    std::uint64_t first_ = 0;  // the number of the first of them
    bool combining_ = false;   // somebody is at it
    std::vector<std::unique_ptr<T>> spare_;
};

}  // namespace internal

/// reduction: tasks add to a value, each in a copy of its own that begins as the neutral element; any number
/// of them at the same time. Their copies are combined with the value one after the other, in the order in
/// which the tasks were spawned, so what comes out is the same to the last bit in any order of execution, and
/// that of a program that combines what each task adds in order. A task that throws or does not run adds
/// nothing.
///
/// `combine(value, part)` returns both together, or changes the value in place and returns nothing, as must
/// be where the value is a vector. The value must outlive the tasks.
template <class T, class Combine>
class Reduction {
  public:
    using Parts = internal::ReducedParts<T, Combine>;

    /// Throws TasksError where `neutral` combined with itself is something else.
    Reduction(T& value, Combine combine, std::type_identity_t<T> neutral)
        : parts_(std::make_shared<Parts>(value, std::move(combine), std::move(neutral))) {
        if (parts_->is_neutral()) return;
        throw TasksError("a reduction's neutral element is none: combined with itself it is something else");
    }

    Access access() const {
        Access all = internal::access_of(parts_->target(), Access::Mode::reduction);
        all.operation = parts_.get();
        return all;
    }
    const std::shared_ptr<Parts>& parts() const { return parts_; }

  private:
    std::shared_ptr<Parts> parts_;
};

/// The access of a task that adds to it; its function is to be one made by reducing().
template <class T, class Combine>
Access reduces(const Reduction<T, Combine>& sum) {
    return sum.access();
}

namespace internal {

// One task's part of a reduction.
template <class T, class Combine>
class ReducedPart {
  public:
    using Parts = ReducedParts<T, Combine>;

    explicit ReducedPart(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
    ReducedPart(ReducedPart&&) noexcept = default;
    ReducedPart& operator=(ReducedPart&&) = delete;
    ~ReducedPart() {
        if (parts_ && has_turn_) give_up();
    }

    bool is_of(const Access& access) const { return access.operation == parts_.get(); }
    bool is_named_in(std::span<const Access> accesses) const {
        return std::ranges::any_of(accesses, [this](const Access& each) { return is_of(each); });
    }
    void take_turn() {
        number_ = parts_->next_number();
        has_turn_ = true;
    }
    T& begin() {
        copy_ = parts_->make_copy();
        return *copy_;
    }
    void end() {
        has_turn_ = false;
        parts_->give(number_, std::move(copy_));
    }

  private:
    // The task has thrown or does not run, which is reported; what combining the others' parts throws then,
    // is not.
    void give_up() noexcept {
        try {
            parts_->give(number_, nullptr);
        } catch (...) {
        }
    }

    std::shared_ptr<Parts> parts_;
    std::uint64_t number_ = 0;
    bool has_turn_ = false;
    std::unique_ptr<T> copy_{};
};

// Unless the task that names a reduction adds to it.
template <class Adds>
void check_added_to(std::span<const Access> accesses, Adds adds) {
    for (std::size_t i = 0; i < accesses.size(); ++i)
        if (accesses[i].operation && !adds(accesses[i])) refuse_reduction_not_added_to(i);
}

// A task's function, with its parts.
template <class F, class... Parts>
class Reducing {
  public:
    explicit Reducing(F work, Parts... parts) : work_(std::move(work)), parts_(std::move(parts)...) {}

    void check(std::span<const Access> accesses) const {
        if (!all([&](const auto&... part) { return (part.is_named_in(accesses) && ...); }))
            throw TasksError(
                "a task adds to a reduction that it does not name: add reduces() to its accesses");
        check_added_to(accesses, [this](const Access& access) {
            return all([&](const auto&... part) { return (part.is_of(access) || ...); });
        });
    }
    void take_turn() {
        all([](auto&... part) { (part.take_turn(), ...); });
    }
    void operator()() {
        all([this](auto&... part) { work_(part.begin()...); });
        all([](auto&... part) { (part.end(), ...); });
    }

  private:
    template <class Call>
    auto all(Call call) {
        return std::apply(call, parts_);
    }
    template <class Call>
    auto all(Call call) const {
        return std::apply(call, parts_);
    }

    F work_;
    std::tuple<Parts...> parts_;
};

template <class F>
concept Reduces = requires(std::remove_cvref_t<F>& work, std::span<const Access> accesses) {
    work.check(accesses);
    work.take_turn();
};

}  // namespace internal

/// A task's function that is called with the task's own copy for each of these reductions.
template <class F, class... T, class... Combine>
auto reducing(F work, const Reduction<T, Combine>&... sums) {
    return internal::Reducing(std::move(work), internal::ReducedPart<T, Combine>(sums.parts())...);
}

}  // namespace tidemill
