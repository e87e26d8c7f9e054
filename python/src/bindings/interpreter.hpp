#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>

#include "bindings/python.hpp"

namespace tidemill::python {

/// Holds the interpreter's lock while it lives. A thread that Python does not know keeps what Python needs to
/// know of it until it ends, so that each later time costs no more than the lock itself.
class InterpreterLock {
  public:
    InterpreterLock();
    ~InterpreterLock();
    InterpreterLock(const InterpreterLock&) = delete;
    InterpreterLock& operator=(const InterpreterLock&) = delete;

    /// False when the interpreter has ended: then nothing of it may be touched.
    bool is_held() const { return held_; }

  private:
    bool held_;
    PyGILState_STATE state_{};
};

/// A run that the end of the interpreter ends, too. While one lives, the interpreter waits with its end.
class LiveRun {
  public:
    explicit LiveRun(std::stop_source stop);
    ~LiveRun();
    LiveRun(const LiveRun&) = delete;
    LiveRun& operator=(const LiveRun&) = delete;

  private:
    std::stop_source stop_;
};

/// Without the interpreter's lock while it lives. The interpreter waits with its end: until Python 3.13, a
/// thread that wants the lock back after that is unwound, through what cannot be. From the end on the lock is
/// kept.
class Unlocked {
  public:
    Unlocked();
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

  private:
    LiveRun live_;  // until the lock is back
    std::optional<nb::gil_scoped_release> released_{};
};

/// Does a job without the lock, which the caller has. Where this is the main thread, another one does the
/// job, and this one sees to signals: what a handler raises (Ctrl-C) requests `stop`, and is thrown when the
/// job is done. `insist` is called, with the lock, each time that a handler raises again. Throws what the job
/// throws.
void do_interruptibly(std::stop_source stop, const std::function<void()>& job,
                      const std::function<void()>& insist = {});

/// As do_interruptibly, for a job that has interruption points.
void do_up_to_interruption(const std::function<void()>& job, const std::function<void()>& insist = {});

/// Watch on signals during a job in the main thread itself: asked often, runs signal handlers now and then,
/// and is true from the moment on when one of them raised. Called without the lock.
class SignalWatch {
  public:
    SignalWatch();
    bool raised();
    /// Throws what was raised; needs the lock.
    void rethrow() const;

  private:
    bool is_main_;
    std::uint64_t next_;
    std::exception_ptr raised_;
};

/// Forks between the process that loaded the module and this one.
std::uint64_t forks_so_far();

/// Process that made an object with threads. After a fork the threads are missing, and nobody passes data on.
class ProcessOfThreads {
  public:
    ProcessOfThreads() : forks_(forks_so_far()) {}
    bool is_other() const { return forks_ != forks_so_far(); }
    /// Throws RunError in another process than its own.
    void check(const char* what) const;

  private:
    std::uint64_t forks_;
};

/// Whether this is the thread in which Python handles signals; needs the lock.
bool is_main_thread();

/// Function that the package calls when the interpreter is about to end.
void end_live_runs();

}  // namespace tidemill::python
