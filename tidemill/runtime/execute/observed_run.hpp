#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/report/observer.hpp"

namespace tidemill {

/// Notifies observers when a run begins and ends.
class ObservedRun {
  public:
    /// Throws what a begin_run() throws, after the end_run() of those before it.
    explicit ObservedRun(const std::vector<Observer*>& observers) : observers_(observers) {
        for (; begun_ < observers_.size(); ++begun_) {
            const auto failure = internal::thrown_by([&] { observers_[begun_]->begin_run(); });
            if (!failure) continue;
            end_quietly();
            std::rethrow_exception(failure);
        }
    }
    /// The run has failed, and that is reported: what end_run() throws is not.
    ~ObservedRun() { end_quietly(); }
    ObservedRun(const ObservedRun&) = delete;
    ObservedRun& operator=(const ObservedRun&) = delete;

    /// Calls end_run() on all; throws what the first of them throws.
    void end() {
        std::exception_ptr first = nullptr;
        while (begun_ > 0) {
            Observer* const observer = observers_[--begun_];
            auto failure = internal::thrown_by([&] { observer->end_run(); });
            if (!first) first = std::move(failure);
        }
        if (first) std::rethrow_exception(first);
    }

  private:
    void end_quietly() {
        internal::thrown_by([this] { end(); });
    }

    const std::vector<Observer*> observers_;
    std::size_t begun_ = 0;
};

}  // namespace tidemill
