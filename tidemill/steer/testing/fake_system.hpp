#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/machine/counters.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/steer/steer_error.hpp"
#include "tidemill/steer/system.hpp"

namespace tidemill::testing {

using steer::both;
using steer::CpuSet;
using steer::Outcome;

/// A thread of a made-up machine.
struct FakeThread {
    int process = 0;
    int number = 0;
    steer::ThreadFacts facts{};
    CpuSet wish{};        ///< its affinity, as somebody asked for it
    bool spins = true;    ///< wants to run, else nothing
    double busy = 1;      ///< part of CPU 0 that it wants when it spins; 1: all it can get
    bool is_ours = true;  ///< else the system refuses us
    bool has_ended = false;
    bool is_touched = false;  ///< somebody has asked for another affinity
    double ran_s = 0;
    double waited_s = 0;
    double factor_on_1 = 1;  ///< how many times longer it takes on CPU 1
    double instructions = 0;
};

/// A made-up machine whose CPUs are shared out evenly and whose time passes when the test says so. Threads
/// are put on the least loaded CPU that they may use when theirs is not one of these any more.
class FakeSystem final : public steer::System {
  public:
    /// Thrown in the place of the killed process; what it does while it is torn down has no effect.
    struct Killed : std::runtime_error {
        Killed() : std::runtime_error("killed") {}
    };

    explicit FakeSystem(CpuSet cpus) : possible_(std::move(cpus)), online_(possible_), cpuset_(possible_) {}

    // Actions of a test on the machine.
    FakeThread& start(const std::string& name, int process = 0, int parent = 1) {
        const int number = next_number_++;
        auto thread = std::make_shared<FakeThread>();
        thread->number = number;
        thread->process = process == 0 ? number : process;
        thread->facts = {.name = name, .parent = parent, .session = 5, .start_ticks = next_start_++};
        thread->wish = possible_;
        threads_[number] = thread;
        put_somewhere(*thread);
        return *thread;
    }
    /// A child of a thread, which begins where that one may run.
    FakeThread& fork(FakeThread& parent, const std::string& name) {
        FakeThread& child = start(name, 0, parent.process);
        child.wish = parent.wish;
        put_somewhere(child);
        return child;
    }
    void end(FakeThread& thread) {
        thread.has_ended = true;
        for (auto& [number, other] : threads_)
            if (other->facts.parent == thread.process) other->facts.parent = 1;
        threads_.erase(thread.number);
    }
    /// The next thread to start has this number.
    void reuse(int number) { next_number_ = number; }
    void set_online(CpuSet online) { change(online_, std::move(online)); }
    void set_cpuset(CpuSet cpuset) { change(cpuset_, std::move(cpuset)); }
    void reboot() { boot_ = "another"; }

    void pass(double seconds) {
        std::map<int, std::vector<FakeThread*>> spinning;
        for (const auto& [number, thread] : threads_)
            if (thread->spins) spinning[thread->facts.processor].push_back(thread.get());
        for (auto& [cpu, threads] : spinning) share_out(cpu, std::move(threads), seconds);
        now_s_ += seconds;
    }

    /// Where a thread may run in the end.
    CpuSet effective(const FakeThread& thread) const {
        const CpuSet usable = both(cpuset_, online_);
        const CpuSet granted = both(thread.wish, usable);
        return granted.empty() ? usable : granted;
    }
    std::size_t changes() const { return changes_; }

    bool is_group_removed = false;
    /// Called before each change of an affinity.
    std::function<void()> before_change = [] {};
    /// So many changes are made, then the process that asks for one is killed.
    std::size_t killed_after = static_cast<std::size_t>(-1);

    const FakeThread* find(int number) const {
        const auto found = threads_.find(number);
        return found == threads_.end() ? nullptr : found->second.get();
    }

    // The machine that a daemon sees.
    double now_s() override { return now_s_; }
    std::uint64_t now_ticks() override { return next_start_++; }
    double processor_s() override { return 0; }
    CpuSet online() override { return online_; }
    CpuSet possible() override { return possible_; }
    std::string boot_id() override { return boot_; }
    bool has_new_processes() override { return true; }
    std::vector<int> processes() override {
        std::set<int> numbers;
        for (const auto& [number, thread] : threads_) numbers.insert(thread->process);
        return {numbers.begin(), numbers.end()};
    }
    std::vector<int> group(const std::filesystem::path& path) override {
        if (path != "group" || is_group_removed) throw steer::SteerError("no such group");
        return processes();
    }
    std::unique_ptr<steer::HeldProcess> hold(int process) override {
        if (!threads_.contains(process)) return nullptr;
        return std::make_unique<Process>(*this, threads_[process]);
    }
    std::string shortage() override { return ""; }

  private:
    class Thread final : public steer::HeldThread {
      public:
        Thread(FakeSystem& system, std::shared_ptr<FakeThread> thread)
            : system_(system), thread_(std::move(thread)) {}

        std::optional<steer::ThreadFacts> facts() override {
            return thread_->has_ended ? std::nullopt : std::optional(thread_->facts);
        }
        std::optional<steer::ThreadTimes> times() override {
            if (thread_->has_ended) return std::nullopt;
            return steer::ThreadTimes{static_cast<std::uint64_t>(1e9 * thread_->ran_s),
                                      static_cast<std::uint64_t>(1e9 * thread_->waited_s)};
        }
        std::optional<CpuSet> affinity() override {
            return thread_->has_ended ? std::nullopt : std::optional(system_.effective(*thread_));
        }
        Outcome set_affinity(const CpuSet& set) override { return system_.change_affinity(*thread_, set); }

      private:
        FakeSystem& system_;
        std::shared_ptr<FakeThread> thread_;
    };

    class Process final : public steer::HeldProcess {
      public:
        Process(FakeSystem& system, std::shared_ptr<FakeThread> main)
            : system_(system), main_(std::move(main)) {}

        bool has_ended() override { return main_->has_ended; }
        bool has_other_threads() override { return true; }
        std::vector<int> threads() override {
            std::vector<int> numbers;
            for (const auto& [number, thread] : system_.threads_)
                if (thread->process == main_->number) numbers.push_back(number);
            return numbers;
        }
        std::unique_ptr<steer::HeldThread> hold(int thread) override {
            if (!system_.threads_.contains(thread)) return nullptr;
            return std::make_unique<Thread>(system_, system_.threads_[thread]);
        }
        std::optional<CpuSet> allowed() override { return both(system_.cpuset_, system_.online_); }

      private:
        FakeSystem& system_;
        std::shared_ptr<FakeThread> main_;
    };

    static double factor(const FakeThread& thread, int cpu) { return cpu == 1 ? thread.factor_on_1 : 1; }

    // Evenly, and nobody has more than it wants; who has less waits for the rest of the time.
    static void share_out(int cpu, std::vector<FakeThread*> threads, double seconds) {
        const auto want = [&](const FakeThread* thread) {
            return thread->busy >= 1 ? 1 : std::min(1.0, thread->busy * factor(*thread, cpu));
        };
        std::ranges::sort(threads, {}, want);
        double left = 1;
        for (std::size_t i = 0; i < threads.size(); ++i) {
            FakeThread& thread = *threads[i];
            const double share = std::min(want(&thread), left / static_cast<double>(threads.size() - i));
            left -= share;
            thread.ran_s += seconds * share;
            if (share < want(&thread)) thread.waited_s += seconds * (1 - share);
            thread.instructions += 1e9 * seconds * share / factor(thread, cpu);
        }
    }

    Outcome change_affinity(FakeThread& thread, const CpuSet& set) {
        if (changes_ >= killed_after) {
            killed_after = 0;
            throw Killed();
        }
        before_change();
        if (thread.has_ended) return Outcome::gone;
        thread.is_touched = true;
        if (!thread.is_ours) return Outcome::refused;
        if (both(set, both(cpuset_, online_)).empty()) return Outcome::impossible;
        ++changes_;
        thread.wish = set;
        put_somewhere(thread);
        return Outcome::done;
    }

    void change(CpuSet& set, CpuSet into) {
        set = std::move(into);
        for (auto& [number, thread] : threads_) {
            // As the kernel does where nothing is left of a wish.
            if (both(thread->wish, both(cpuset_, online_)).empty()) thread->wish = possible_;
            put_somewhere(*thread);
        }
    }

    void put_somewhere(FakeThread& thread) {
        const CpuSet usable = effective(thread);
        if (std::ranges::count(usable, thread.facts.processor) != 0 && thread.ran_s > 0) return;
        const auto load = [&](int cpu) {
            return std::ranges::count_if(threads_, [&](const auto& entry) {
                return entry.second.get() != &thread && entry.second->spins &&
                       entry.second->facts.processor == cpu;
            });
        };
        thread.facts.processor = *std::ranges::min_element(usable, {}, load);
    }

    CpuSet possible_;
    CpuSet online_;
    CpuSet cpuset_;
    std::string boot_ = "this";
    double now_s_ = 100;
    int next_number_ = 1000;
    std::uint64_t next_start_ = 1;
    std::size_t changes_ = 0;
    std::map<int, std::shared_ptr<FakeThread>> threads_;
};

/// Counts what the threads of such a machine do.
class FakeCounters final : public Counters {
  public:
    explicit FakeCounters(const FakeSystem& system) : system_(system) {}

    const std::string& name() const override { return name_; }
    std::unique_ptr<ThreadCounters> of_thread(int number) override {
        if (refuses) throw PlatformError("counters refuse");
        return std::make_unique<OfThread>(system_, number);
    }

    bool refuses = false;

  private:
    class OfThread final : public ThreadCounters {
      public:
        OfThread(const FakeSystem& system, int number) : system_(system), number_(number) {}
        CounterReading read() override {
            const FakeThread* const thread = system_.find(number_);
            if (thread == nullptr) throw PlatformError("the thread is gone");
            return {
                .enabled_ns = 1e9 * thread->ran_s,
                .on = {{.pmu = "cpu", .ran_ns = 1e9 * thread->ran_s, .instructions = thread->instructions}}};
        }

      private:
        const FakeSystem& system_;
        int number_;
    };

    const FakeSystem& system_;
    std::string name_ = "fake";
};

}  // namespace tidemill::testing
