#include "tidemill/runtime/execute/guarded_callbacks.hpp"

namespace tidemill {

GuardedCallbacks::GuardedCallbacks(const RunOptions& wanted)
    : asked_(wanted.stop, [this] { ended_.request_stop(); }) {
    if (wanted.stop_when) {
        stop_when_ = [this, ask = wanted.stop_when] {
            bool stops = true;
            guarded([&] { stops = ask(); });
            return stops;
        };
    }
    for (Observer* observer : wanted.observers)
        guarded_.push_back(&observers_.emplace_back(*this, *observer));
}

void GuardedCallbacks::put_into(RunOptions& options) const {
    options.stop = stop();
    options.stop_when = stop_when_;
    options.observers = guarded_;
}

}  // namespace tidemill
