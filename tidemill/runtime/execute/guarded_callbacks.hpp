#pragma once

#include <deque>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/report/run_options.hpp"

namespace tidemill {

/// Callbacks of a run besides its tasks: the condition and the observers of its options. If one of them
/// throws, on any thread, the run ends as by its stop token, so that it can be resumed, and the caller throws
/// that behind it.
class GuardedCallbacks {
  public:
    explicit GuardedCallbacks(const RunOptions& wanted);
    GuardedCallbacks(const GuardedCallbacks&) = delete;
    GuardedCallbacks& operator=(const GuardedCallbacks&) = delete;

    /// The guarded ones in place of those that were wanted, and a token that stops with either.
    void put_into(RunOptions& options) const;

    /// The run is to end, for any reason.
    void end() { ended_.request_stop(); }
    std::stop_token stop() const { return ended_.get_token(); }

    /// Throws what the first of them threw, if any; once.
    void rethrow() { failure_.rethrow(); }

    /// Calls it. Returns whether it did not throw.
    template <class Call>
    bool guarded(Call&& call) {
        const std::exception_ptr failure = internal::thrown_by(std::forward<Call>(call));
        if (!failure) return true;
        failure_.note(failure);
        ended_.request_stop();
        return false;
    }

  private:
    class GuardedThread;
    class GuardedObserver;

    internal::FirstFailure failure_;
    std::stop_source ended_;
    std::stop_callback<std::function<void()>> asked_;
    std::function<bool()> stop_when_;
    std::deque<GuardedObserver> observers_;
    std::vector<Observer*> guarded_;  // those, for the options
};

/// One thread's observer, which is called no more once it has thrown.
class GuardedCallbacks::GuardedThread final : public ThreadObserver {
  public:
    GuardedThread(GuardedCallbacks& owner, ThreadObserver& inner) : owner_(owner), inner_(&inner) {}

    void calling(const OrderedTask& task, std::uint64_t frame) override {
        tell([&] { inner_->calling(task, frame); });
    }
    void called(const ObservedCall& call) override {
        tell([&] { inner_->called(call); });
    }
    void waiting(std::uint32_t segment, bool pushes) override {
        tell([&] { inner_->waiting(segment, pushes); });
    }
    void waited(const ObservedWait& wait) override {
        tell([&] { inner_->waited(wait); });
    }

  private:
    template <class Call>
    void tell(Call call) {
        if (inner_ && !owner_.guarded(call)) inner_ = nullptr;
    }

    GuardedCallbacks& owner_;
    ThreadObserver* inner_;
};

class GuardedCallbacks::GuardedObserver final : public Observer {
  public:
    GuardedObserver(GuardedCallbacks& owner, Observer& inner) : owner_(owner), inner_(inner) {}
    ThreadObserver& watch(const ObservedThread& thread) override {
        return threads_.emplace_back(owner_, inner_.watch(thread));
    }

  private:
    GuardedCallbacks& owner_;
    Observer& inner_;
    std::deque<GuardedThread> threads_{};
};

}  // namespace tidemill
