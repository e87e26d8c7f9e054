#pragma once

#include <vector>

#include "tidemill/run/observer.hpp"

namespace tidemill {

/// Tells observers when a run begins and ends.
class ObservedRun {
  public:
    explicit ObservedRun(const std::vector<Observer*>& observers) : observers_(observers) {
        for (Observer* observer : observers_) observer->begin_run();
    }
    ~ObservedRun() {
        for (Observer* observer : observers_) observer->end_run();
    }
    ObservedRun(const ObservedRun&) = delete;
    ObservedRun& operator=(const ObservedRun&) = delete;

  private:
    const std::vector<Observer*>& observers_;
};

}  // namespace tidemill
