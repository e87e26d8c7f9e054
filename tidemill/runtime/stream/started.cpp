#include <exception>
#include <future>
#include <optional>
#include <thread>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/inside_run.hpp"
#include "tidemill/machine/own_thread.hpp"
#include "tidemill/machine/start_thread.hpp"
#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/runtime/stream/run_on_this_thread.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

namespace internal {

namespace {

// Executors hand modules a run's first frame and no more. The thread that begins them is the one that runs.
thread_local std::stop_token stop_here;

}  // namespace

std::stop_token stop_of_this_thread() {
    return stop_here;
}

RunOnThisThread::RunOnThisThread(const std::stop_token& stop) {
    stop_here = stop;
}

RunOnThisThread::~RunOnThisThread() {
    stop_here = {};
}

}  // namespace internal

namespace {

using ToRun = std::function<RunReport(const RunOptions&)>;

void tell(const Started::OnError& on_error, const std::exception& error) {
    // An exception of the callback is dropped: join() throws the error itself.
    if (on_error) internal::thrown_by([&] { on_error(error); });
}

RunReport run_and_tell(const ToRun& run, const RunOptions& options, const Started::OnError& on_error) {
    try {
        return run(options);
    } catch (const std::exception& error) {
        tell(on_error, error);
        throw;
    }
}

}  // namespace

struct Started::Thread {
    std::stop_source stop;
    std::stop_callback<std::function<void()>> asked_elsewhere;
    std::future<RunReport> report;
    MakingProcess process{};
    OwnThread thread;

    Thread(const ToRun& run, RunOptions options, OnError on_error)
        : asked_elsewhere(options.stop, [this] { stop.request_stop(); }) {
        options.stop = stop.get_token();
        std::packaged_task<RunReport()> task(
            [this, run, options = std::move(options), on_error = std::move(on_error)] {
                const InsideRun inside(this);
                return run_and_tell(run, options, on_error);
            });
        report = task.get_future();
        thread = OwnThread(start_thread(std::move(task)));
    }
    ~Thread() { stop.request_stop(); }
    bool can_be_waited_for() const { return process.is_here() && !InsideRun::of(this); }
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
};

Started::Started(ToRun run, RunOptions options, OnError on_error)
    : thread_(std::make_unique<Thread>(run, std::move(options), std::move(on_error))) {}

// A run that nobody can wait for, or whose process this one was forked from, is left alone.
Started::~Started() {
    if (!thread_ || thread_->can_be_waited_for()) return;
    if (thread_->process.is_here()) thread_->stop.request_stop();
    thread_.release();
}

Started::Started(Started&&) noexcept = default;

void Started::stop() {
    if (thread_) thread_->stop.request_stop();
}

bool Started::running() const {
    return thread_ && thread_->report.valid() &&
           thread_->report.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

RunReport Started::join() {
    if (!thread_) throw RunError("this run was moved elsewhere; join it there");
    if (!thread_->report.valid()) throw RunError("this run was joined already; its report is given once");
    if (!thread_->process.is_here())
        throw RunError("this run goes on in the process from which this one was forked; join it there");
    if (InsideRun::of(thread_.get()))
        throw RunError("join() waits for the run, and was called by the run itself: call it from outside");
    thread_->report.wait();
    try {
        return thread_->report.get();
    } catch (const std::future_error&) {
        throw RunError("the thread of this run was ended by pthread_exit() or pthread_cancel() in a task");
    }
}

}  // namespace tidemill
