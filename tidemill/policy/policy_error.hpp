#pragma once

#include <stdexcept>

namespace tidemill::policy {

/// What the policy room throws for a name or a window it cannot use: what, where, what to do.
class PolicyError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace tidemill::policy
