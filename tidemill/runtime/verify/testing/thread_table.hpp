#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tidemill/runtime/verify/testing/explored_threads.hpp"

namespace tidemill::explore {

/// Changes what code asks of its machine, to see that a mistake would be noticed: is given each operation and
/// the way to perform one, and answers. Made anew for each run of a thread.
using Perform = std::function<Word(const Operation&)>;
using Twist = std::function<Word(const Operation&, const Perform&)>;
using Mutation = std::function<Twist(std::size_t thread)>;

/// Next action of one thread, by the answers so far: a table that is written while it is read.
///
/// A thread's code depends on nothing but answers. So it need not run beside the others: to learn a new row,
/// it runs alone once more, is answered as before, and stops where it asks something new. A search then goes
/// through the interleavings of such tables, and never runs the code where it has been.
class ThreadTable {
  public:
    using Row = std::uint32_t;

    ThreadTable(std::size_t thread, std::function<void()> code, Mutation mutation)
        : thread_(thread), code_(std::move(code)), mutation_(std::move(mutation)) {
        learn({}, 0);
    }

    static constexpr Row kStart = 0;

    const Operation& operation(Row row) const { return rows_[row].operation; }
    /// Reads of the thread since it did anything but look.
    const std::vector<std::pair<Location, Word>>& reads(Row row) const { return rows_[row].reads; }

    /// Where the thread stands when it is answered so.
    Row next(Row row, Word answer) {
        for (const auto& [told, next] : rows_[row].next) {
            if (told == answer) return next;
        }
        learn(path_to(row), answer);
        return next(row, answer);
    }

  private:
    struct Line {
        Operation operation;
        Row before = 0;
        Word answer = 0;    // there
        Word landmark = 0;  // the last one
        std::vector<std::pair<Word, Row>> next{};
        std::vector<std::pair<Location, Word>> reads{};
    };
    struct NothingKnown {};
    static constexpr Word kNothing = ~Word{0};

    /// Answers as before, and then writes down what is asked.
    class Run final : public Machine {
      public:
        Run(ThreadTable& table, std::vector<Row> path, Word answer)
            : table_(table), path_(std::move(path)), answer_(answer) {
            if (table.mutation_) twist_ = table.mutation_(table.thread_);
        }

        Location place(Word) override { throw std::logic_error("explored threads share no local variable"); }

        Word perform(const Operation& operation) override {
            if (is_over_) return 0;  // what code does on its way out is not what it would do
            if (!twist_) return ask(operation);
            return twist_(operation, [this](const Operation& other) { return ask(other); });
        }

        void landmark(Word key) override {
            if (step_ >= path_.size()) base_ = key;
            pass(key);
        }

        Word ask(const Operation& operation) {
            if (step_ < path_.size()) return repeat(operation);
            const Row row = write(operation);
            is_over_ = is_answered(operation.act);
            if (is_over_) throw NothingKnown();
            at_ = row;
            answer_ = 0;
            forget(operation);
            return 0;
        }

      private:
        Word repeat(const Operation& operation) {
            const Line& line = table_.rows_[path_[step_]];
            if (line.operation != operation) throw std::logic_error("a thread does not repeat itself");
            at_ = path_[step_++];
            base_ = line.landmark;
            const bool last = step_ == path_.size();
            const Word answer = last ? answer_ : table_.rows_[path_[step_]].answer;
            if (last) forget(operation);
            return answer;
        }

        // A thread that has waited, or counts itself among those that wait, looks at everything once more.
        void forget(const Operation& operation) {
            const Act act = operation.act;
            const bool forgets = act == Act::sleep || act == Act::yield || act == Act::add;
            if (!forgets) return;
            const Word at = act == Act::yield ? waited_for() : operation.at;
            pass(mixed(mixed(mixed(base_, static_cast<Word>(act)), at), operation.value));
        }

        // One and the same code may wait for several words, one after the other.
        Word waited_for() const {
            const auto& reads = table_.rows_[*at_].reads;
            return reads.empty() ? kNothing : reads.back().first;
        }

        // A landmark where the thread was before leads on from there.
        void pass(Word key) {
            if (step_ < path_.size() || known_) return;
            keys_.push_back(key);
            const auto found = table_.landmarks_.find(key);
            if (found != table_.landmarks_.end()) join(found->second);
        }

        void join(Row row) {
            if (at_) {
                table_.rows_[*at_].next.emplace_back(answer_, row);
            }
            known_ = row;
            for (const Word key : keys_) table_.landmarks_.emplace(key, row);
            keys_.clear();
        }

        Row write(const Operation& operation) {
            if (known_) return follow(operation);
            const Row row = static_cast<Row>(table_.rows_.size());
            Line& line = table_.rows_.emplace_back(Line{operation, at_.value_or(0), answer_, base_});
            if (at_) {
                Line& before = table_.rows_[*at_];
                before.next.emplace_back(answer_, row);
                const Act done = before.operation.act;
                const bool looks = done == Act::load || done == Act::note || done == Act::read;
                if (looks) line.reads = before.reads;
                if (done == Act::load) {
                    std::erase_if(line.reads,
                                  [&](const auto& read) { return read.first == before.operation.at; });
                    line.reads.emplace_back(before.operation.at, answer_);
                }
            }
            for (const Word key : keys_) table_.landmarks_.emplace(key, row);
            keys_.clear();
            return row;
        }

        // A landmark must hold all that matters: from there on, nothing else may happen.
        Row follow(const Operation& operation) {
            const Row row = *known_;
            if (table_.rows_[row].operation != operation) {
                throw std::logic_error("a landmark does not tell a thread's whole state");
            }
            if (!is_answered(operation.act) && !table_.rows_[row].next.empty()) {
                known_ = table_.rows_[row].next.front().second;
            } else if (!is_answered(operation.act)) {
                known_.reset();
            }
            return row;
        }

        ThreadTable& table_;
        std::vector<Row> path_;
        std::size_t step_ = 0;
        Word answer_;
        Word base_ = 0;
        std::optional<Row> at_;     // the row of the last operation
        std::optional<Row> known_;  // the row that the next operation must have
        std::vector<Word> keys_;    // landmarks since then
        bool is_over_ = false;
        Twist twist_;
    };

    void learn(std::vector<Row> path, Word answer) {
        Run run(*this, std::move(path), answer);
        const RunsOn on(run);
        try {
            code_();
            run.ask({Act::done});
        } catch (const NothingKnown&) {
        }
    }

    std::vector<Row> path_to(Row row) const {
        std::vector<Row> path{row};
        while (path.back() != kStart) path.push_back(rows_[path.back()].before);
        return {path.rbegin(), path.rend()};
    }

    std::size_t thread_;
    std::function<void()> code_;
    Mutation mutation_;
    std::vector<Line> rows_;
    std::unordered_map<Word, Row> landmarks_;
};

}  // namespace tidemill::explore
