#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/machine/affinity.hpp"

namespace tidemill {

/// The cores that a thread is to stay on, if any.
class ThreadPin {
  public:
    /// To the index-th of `cores`, which must outlive this; where there are none, it stays unpinned.
    ThreadPin(const std::vector<PuSet>& cores, std::size_t index)
        : cores_(cores.empty() || cores[index].empty() ? nullptr : &cores[index]) {}

    bool has_cores() const { return cores_ != nullptr; }

    /// The calling thread, to these cores, and back to where it was.
    void pin() {
        if (cores_) error_ = pinned_.emplace(*cores_).error();
    }
    void unpin() { pinned_.reset(); }

    std::string cores() const { return cores_ ? to_string(*cores_) : "any"; }
    /// Why the system did not pin; empty when it did, or was not asked to.
    std::string refusal() const { return error_ ? error_->reason : ""; }

  private:
    const PuSet* cores_;  // null: any
    std::optional<PinGuard> pinned_;
    std::optional<PinError> error_;
};

}  // namespace tidemill
