#include "tidemill/machine/repeated.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/inside_run.hpp"
#include "tidemill/machine/own_thread.hpp"
#include "tidemill/machine/start_thread.hpp"

namespace tidemill {

struct Repeated::State {
    State(std::chrono::nanoseconds every, std::function<bool()> what)
        : period(every),
          work(std::move(what)),
          thread(start_thread([this, runs = InsideRun::all()](const std::stop_token& done) {
              const InsideRun::Helper inside(runs);
              failure = internal::thrown_by([&] { repeat_until(done); });
          })) {}

    void repeat_until(const std::stop_token& done) {
        std::unique_lock lock(mutex);
        const auto is_done = [&] { return done.stop_requested(); };
        while (!wake.wait_for(lock, done, period, is_done) && !is_done()) {
            if (!work()) return;
        }
    }

    std::chrono::nanoseconds period;
    std::function<bool()> work;
    std::exception_ptr failure{};
    std::mutex mutex{};  // for the condition alone
    std::condition_variable_any wake{};
    OwnThread thread;
};

Repeated::Repeated(std::chrono::nanoseconds period, std::function<bool()> work)
    : state_(std::make_unique<State>(period, std::move(work))) {}

Repeated::~Repeated() {
    end();
}

std::exception_ptr Repeated::end() {
    if (!state_) return nullptr;
    if (!state_->thread.can_be_waited_for()) {
        state_.release();  // where a thread may still look at it
        return nullptr;
    }
    state_->thread.end();
    return std::exchange(state_, nullptr)->failure;
}

}  // namespace tidemill
