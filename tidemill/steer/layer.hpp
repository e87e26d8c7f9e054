#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/scheduling/unequal/factor_matrix.hpp"
#include "tidemill/scheduling/unequal/sample.hpp"

namespace tidemill::bridge {

/// A task's place in the matrix: small and dense, and free for another one after exit().
using TaskId = policy::TaskTypeId;

/// The rule generator: a task's factor on a kind of core, by what it did on each.
using Model = std::function<Factor(std::span<const History> on_kinds, policy::KindId kind)>;

/// Layer between a scheduler of programs and unequal cores: the scheduler reports what happens to tasks, and
/// reads from factors() what their load is worth on each kind of core.
///
/// Calls must not overlap, but for reading factors(), which any thread may do.
class Layer {
  public:
    /// Tasks and kinds are numbered below these. Throws BridgeError where there are none.
    Layer(std::size_t most_tasks, std::size_t kinds, Model model = time_ratio);

    /// A task is new, and nothing is known of it: its factors are absent.
    void create(TaskId task);
    /// It begins to run that program: what is remembered of that name holds for it.
    void exec(TaskId task, std::string_view program);
    /// It leaves a kind of core for another one, having done this there since the last report.
    void migrate(TaskId task, policy::KindId from, const Sample& done);
    /// Work on the kind of core where it runs since the last report. Where it took much longer or shorter for
    /// its work than before, several times in a row, all that was known of it is forgotten.
    void statistic(TaskId task, policy::KindId kind, const Sample& done);
    /// Makes the factors of all tasks of which something new is known.
    void generate();
    /// It is gone. What is known of it is remembered by the name of its program.
    void exit(TaskId task);

    const FactorMatrix& factors() const { return factors_; }

  private:
    static constexpr std::uint8_t kStrikes = 4;  // samples in a row that are a change of behaviour

    struct Entry {
        std::vector<History>* remembered = nullptr;  // under the name of its program
        std::uint8_t strikes = 0;
        bool news = false;
    };

    std::span<History> histories(TaskId task) { return std::span(histories_).subspan(task * kinds_, kinds_); }
    bool has_changed(TaskId task, policy::KindId kind, const Sample& done);
    void forget(TaskId task);
    void tell_news(TaskId task);
    void write_factors(TaskId task);

    std::size_t kinds_;
    Model model_;
    std::vector<Entry> entries_;
    std::vector<History> histories_;  // [task x kinds + kind]
    std::vector<TaskId> news_;
    std::map<std::string, std::vector<History>, std::less<>> remembered_;
    FactorMatrix factors_;
};

}  // namespace tidemill::bridge
