#include "bindings/interpreter.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "bindings/python_error.hpp"
#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include "tidemill/machine/start_thread.hpp"
#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/static/interruption.hpp"

namespace tidemill::python {

namespace {

using namespace std::chrono_literals;

std::atomic<bool> interpreter_ended = false;

// The live runs, and the threads that wait for their end.
struct LiveRuns {
    std::mutex mutex;
    std::condition_variable changed;
    std::list<std::stop_source*> stops;
};

// Threads may outlive what is static. A process that is forked has none of the threads that would end the
// runs.
LiveRuns* runs_here = new LiveRuns;
std::atomic<std::uint64_t> forks = 0;
[[maybe_unused]] const int told_of_forks = pthread_atfork(nullptr, nullptr, [] {
    runs_here = new LiveRuns;
    ++forks;
});

// Python's state for a thread that it did not start, until the thread ends.
class KnownThread {
  public:
    KnownThread() {
        PyGILState_Ensure();
        PyEval_SaveThread();
    }
    ~KnownThread() {
        if (interpreter_ended) return;
        PyGILState_Ensure();  // the count of the constructor's, and this one's
        PyGILState_Release(PyGILState_LOCKED);
        PyGILState_Release(PyGILState_UNLOCKED);
    }
    KnownThread(const KnownThread&) = delete;
    KnownThread& operator=(const KnownThread&) = delete;
};

// Every CPython has the function and the stable ABI has not, so the module must do without naming it.
bool has_lock() {
    static const auto check = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    return !check || check() != 0;
}

void get_known() {
    if (PyGILState_GetThisThreadState()) return;
    static thread_local const KnownThread known;
    static_cast<void>(known);
}

}  // namespace

InterpreterLock::InterpreterLock() : held_(!interpreter_ended) {
    if (!held_) return;
    get_known();
    state_ = PyGILState_Ensure();
}

// Until Python 3.13, a thread that wants the lock back after the end is unwound; nothing here may see that.
InterpreterLock::~InterpreterLock() {
    if (!held_) return;
    while (!has_lock()) std::this_thread::sleep_for(1h);
    PyGILState_Release(state_);
}

LiveRun::LiveRun(std::stop_source stop) : stop_(std::move(stop)) {
    const std::lock_guard lock(runs_here->mutex);
    runs_here->stops.push_back(&stop_);
}

LiveRun::~LiveRun() {
    const std::lock_guard lock(runs_here->mutex);
    runs_here->stops.remove(&stop_);
    runs_here->changed.notify_all();
}

// A live run is registered before the end is waited for.
Unlocked::Unlocked() : live_(std::stop_source()) {
    if (!interpreter_ended) released_.emplace();
}

// From the end on threads find no interpreter. A task that never comes back cannot be waited for.
void end_live_runs() {
    constexpr auto kPatience = 5s;
    const nb::gil_scoped_release unlocked;
    LiveRuns& runs = *runs_here;
    std::unique_lock lock(runs.mutex);
    for (std::stop_source* stop : runs.stops) stop->request_stop();
    runs.changed.wait_for(lock, kPatience, [&] { return runs.stops.empty(); });
    interpreter_ended = true;
}

std::uint64_t forks_so_far() {
    return forks.load(std::memory_order_relaxed);
}

void ProcessOfThreads::check(const char* what) const {
    if (!is_other()) return;
    throw RunError(
        fmt::format("{} was made before a fork, which leaves its threads behind: make it in the new "
                    "process, or start that with multiprocessing's method 'spawn'",
                    what));
}

bool is_main_thread() {
    const nb::module_ threading = nb::module_::import_("threading");
    return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

namespace {

// Lets signal handlers run until the job is done; keeps what they raised first.
std::exception_ptr watch_signals(std::mutex& mutex, std::condition_variable& changed, const bool& done,
                                 std::stop_source& stop, const std::function<void()>& insist) {
    constexpr auto kNap = 50ms;
    std::exception_ptr raised;
    while (true) {
        {
            const nb::gil_scoped_release unlocked;
            std::unique_lock lock(mutex);
            if (changed.wait_for(lock, kNap, [&] { return done; })) return raised;
        }
        if (PyErr_CheckSignals() == 0) continue;
        const PythonError error = PythonError::raised();
        if (raised && insist) insist();
        if (!raised) raised = std::make_exception_ptr(error);
        stop.request_stop();
    }
}

void do_beside(std::stop_source& stop, const std::function<void()>& job,
               const std::function<void()>& insist) {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::exception_ptr failed;
    std::jthread thread = start_thread([&](const std::stop_token&) {
        try {
            job();
        } catch (...) {
            failed = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        done = true;
        changed.notify_all();
    });
    const std::exception_ptr raised = watch_signals(mutex, changed, done, stop, insist);
    {
        const nb::gil_scoped_release unlocked;
        thread.join();
    }
    if (raised) std::rethrow_exception(raised);
    if (failed) std::rethrow_exception(failed);
}

}  // namespace

void do_interruptibly(std::stop_source stop, const std::function<void()>& job,
                      const std::function<void()>& insist) {
    const LiveRun live(stop);
    if (is_main_thread()) {
        do_beside(stop, job, insist);
        return;
    }
    const Unlocked unlocked;
    job();
}

void do_up_to_interruption(const std::function<void()>& job, const std::function<void()>& insist) {
    const std::stop_source stop;
    do_interruptibly(
        stop,
        [&] {
            const Interruptible here(stop.get_token());
            job();
        },
        insist);
}

namespace {

std::uint64_t nap_ticks() {
    constexpr double kNapNs = 50e6;
    return static_cast<std::uint64_t>(kNapNs / ns_per_tick());
}

}  // namespace

SignalWatch::SignalWatch() : is_main_(is_main_thread()), next_(ticks() + nap_ticks()) {}

bool SignalWatch::raised() {
    if (raised_) return true;
    if (!is_main_ || ticks() < next_) return false;
    next_ = ticks() + nap_ticks();
    const InterpreterLock lock;
    if (lock.is_held() && PyErr_CheckSignals() != 0) raised_ = std::make_exception_ptr(PythonError::raised());
    return raised_ != nullptr;
}

void SignalWatch::rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
}

}  // namespace tidemill::python
