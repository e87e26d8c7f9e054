#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bindings/python.hpp"

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill::python {

/// A task as a policy in Python sees it.
struct PolicyTask {
    std::string type;
    std::uint64_t number = 0;
    std::uint64_t iteration = 0;
    std::int32_t priority = 0;
};

/// A policy that is an object of Python's: of the ready tasks the one with the least `rank(task)` goes first.
/// What it raises is kept, and from then on tasks go in the order of their creation.
class PythonPolicy {
  public:
    /// Names of the task types, by their numbers. Needs the lock. Throws PolicyError for an object without
    /// rank().
    PythonPolicy(nb::object object, std::vector<std::string> types);
    ~PythonPolicy();
    PythonPolicy(const PythonPolicy&) = delete;
    PythonPolicy& operator=(const PythonPolicy&) = delete;

    /// Policy of workers on cores of these kinds; it must not outlive this.
    std::unique_ptr<policy::Policy> policy(std::span<const policy::KindId> kind_of_worker);

    bool has_failed() const { return failed_ != nullptr; }
    void forget_failure() { failed_ = nullptr; }
    /// Throws what was raised, if anything was.
    void rethrow() const;

  private:
    class Rule;

    /// Whole numbers; 0 when it raises. Takes the lock.
    std::int64_t rank(const PolicyTask& task);
    void tell(const nb::object& listener, const PolicyTask& task, policy::WorkerId worker);
    void keep_error();

    nb::object rank_;
    nb::object issued_;     // null where the object has no such method
    nb::object completed_;  // the same
    std::vector<std::string> types_;
    std::exception_ptr failed_;
};

void bind_policies(nb::module_& module);

}  // namespace tidemill::python
