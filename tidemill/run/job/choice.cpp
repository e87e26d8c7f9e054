#include "tidemill/run/job/choice.hpp"

#include <fmt/format.h>

namespace tidemill {

std::string Choice::Way::name() const {
    switch (executor) {
        case Executor::dynamic:
            return fmt::format("dynamic ({})", policy);
        case Executor::threads:
            return "thread per task";
        case Executor::pipeline:
            return fmt::format("pipeline of {} stage{}", schedule->stages.size(),
                               schedule->stages.size() == 1 ? "" : "s");
        case Executor::sequence:
        case Executor::automatic:
            break;
    }
    return "in order";
}

std::string Choice::line() const {
    std::string text = way.name();
    if (is_remembered) text += ", as chosen before";
    for (std::size_t i = 0; i < tried.size(); ++i)
        text += i == 0 ? fmt::format(": {:.2f} us", tried[i].period_us)
                       : fmt::format("; {} {:.2f}", tried[i].name, tried[i].period_us);
    if (bound_us > 0) text += fmt::format("; bound {:.2f}", bound_us);
    return text;
}

}  // namespace tidemill
