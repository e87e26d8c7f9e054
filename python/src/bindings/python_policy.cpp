#include "bindings/python_policy.hpp"

#include <tuple>
#include <utility>

#include "bindings/interpreter.hpp"
#include "bindings/python_error.hpp"
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "tidemill/scheduling/dynamic/policy_error.hpp"
#include "tidemill/scheduling/dynamic/ranked.hpp"
#include "tidemill/scheduling/dynamic/rule_list.hpp"

namespace tidemill::python {

namespace {

nb::object method(const nb::object& object, const char* name) {
    return nb::hasattr(object, name) ? nb::object(object.attr(name)) : nb::object();
}

void forget(nb::object& object, bool is_interpreter_there) {
    if (is_interpreter_there) {
        object.reset();
    } else {
        object.release();
    }
}

}  // namespace

/// Remembers the tasks that are in flight, and asks for the rank of each once, when it is ready.
class PythonPolicy::Rule final : public policy::AnyRule {
  public:
    explicit Rule(PythonPolicy& policy) : policy_(policy) {}

    void create(const policy::NewTask& task) override {
        const auto& types = policy_.types_;
        tasks_.at(task.slot) = {task.type < types.size() ? types[task.type] : std::to_string(task.type),
                                task.number, task.iteration, task.priority};
        issued_.at(task.slot) = 0;
    }
    void ready(policy::TaskSlot task) override { ranks_.at(task) = policy_.rank(tasks_[task]); }
    // A policy learns again which task the worker is at, of those that are handed out together.
    void issue(policy::TaskSlot task, policy::WorkerId worker) override {
        if (issued_[task]++ == 0) policy_.tell(policy_.issued_, tasks_[task], worker);
    }
    void complete(policy::TaskSlot task, policy::WorkerId worker) override {
        policy_.tell(policy_.completed_, tasks_[task], worker);
    }
    void learn(policy::TaskTypeId, policy::TaskTypeId, double) override {}
    std::span<const policy::TaskSlot> raised() override { return {}; }
    bool tick(std::uint64_t) override { return false; }
    bool wants_predecessors() const override { return false; }
    policy::Rule::Rank rank(policy::TaskSlot task) const override { return ranks_[task]; }

  private:
    PythonPolicy& policy_;
    policy::Table<PolicyTask> tasks_;
    policy::Table<std::int64_t> ranks_;
    policy::Table<std::uint8_t> issued_;  // number of such reports
};

PythonPolicy::PythonPolicy(nb::object object, std::vector<std::string> types)
    : rank_(method(object, "rank")),
      issued_(method(object, "issued")),
      completed_(method(object, "completed")),
      types_(std::move(types)) {
    if (!rank_.is_valid() && PyCallable_Check(object.ptr()) != 0) rank_ = std::move(object);
    if (rank_.is_valid()) return;
    throw policy::PolicyError(
        "a policy of one's own is a function of a task, or an object with rank(task): the least goes first");
}

PythonPolicy::~PythonPolicy() {
    const InterpreterLock lock;
    for (nb::object* each : {&rank_, &issued_, &completed_}) forget(*each, lock.is_held());
}

std::unique_ptr<policy::Policy> PythonPolicy::policy(std::span<const policy::KindId> kind_of_worker) {
    std::vector<std::unique_ptr<policy::AnyRule>> rules;
    rules.push_back(std::make_unique<Rule>(*this));
    return std::make_unique<policy::Ranked<policy::RuleList>>(kind_of_worker,
                                                              policy::RuleList(std::move(rules)));
}

void PythonPolicy::rethrow() const {
    if (failed_) std::rethrow_exception(failed_);
}

std::int64_t PythonPolicy::rank(const PolicyTask& task) {
    const InterpreterLock lock;
    if (!lock.is_held() || failed_) return 0;
    try {
        const nb::object given = rank_(task);
        std::int64_t rank = 0;
        if (nb::try_cast(given, rank)) return rank;
        throw policy::PolicyError(fmt::format(
            "a policy's rank of a task is {}: give a whole number of 64 bits", nb::repr(given).c_str()));
    } catch (...) {
        keep_error();
        return 0;
    }
}

void PythonPolicy::tell(const nb::object& listener, const PolicyTask& task, policy::WorkerId worker) {
    if (!listener.is_valid()) return;
    const InterpreterLock lock;
    if (!lock.is_held() || failed_) return;
    try {
        listener(task, worker);
    } catch (...) {
        keep_error();
    }
}

// Within a catch block; not as nanobind's own, which may be ended under the lock only.
void PythonPolicy::keep_error() {
    try {
        throw;
    } catch (const nb::python_error& error) {
        failed_ = std::make_exception_ptr(PythonError(error));
    } catch (...) {
        failed_ = std::current_exception();
    }
}

void bind_policies(nb::module_& module) {
    nb::class_<PolicyTask>(module, "PolicyTask", "A ready task, for policies of one's own.")
        .def_ro("type", &PolicyTask::type, "Its name, the same in each iteration.")
        .def_ro("number", &PolicyTask::number, "In the order of creation.")
        .def_ro("iteration", &PolicyTask::iteration, "Of the stream.")
        .def_ro("priority", &PolicyTask::priority, "The program's wish.")
        .def("__repr__", [](const PolicyTask& self) {
            return fmt::format("<PolicyTask {} {} of iteration {}>", self.number, self.type, self.iteration);
        });
    module.def("policies", [] {
        std::vector<std::tuple<std::string, std::string>> all;
        for (const policy::PolicyName& each : policy::policies())
            all.emplace_back(each.name, each.issues_first);
        return all;
    });
}

}  // namespace tidemill::python
