#include "tidemill/runtime/observe/debug_print.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/graph/module.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/observe/socket_text.hpp"

namespace tidemill {

namespace {

std::string_view name_of(Flow flow) {
    switch (flow) {
        case Flow::ok:
            return "ok";
        case Flow::skip:
            return "skip";
        case Flow::again:
            return "again";
        case Flow::stop:
            return "stop";
    }
    return "control";
}

std::string_view name_of(Direction direction) {
    switch (direction) {
        case Direction::in:
            return "in";
        case Direction::out:
            return "out";
        case Direction::forward:
            return "fwd";
    }
    return "?";
}

// A task's outputs mean something only when the frame goes on.
bool has_meaning(const SocketInfo& socket, Flow flow) {
    return socket.direction == Direction::in || flow == Flow::ok || flow == Flow::again;
}

std::string socket_lines(const ObservedCall& call, std::size_t elements) {
    std::string text;
    const auto sockets = call.module.sockets();
    for (std::uint32_t s = 0; s < sockets.size(); ++s) {
        const SocketInfo& socket = sockets[s];
        if (socket.task != call.task.id.task || !has_meaning(socket, call.flow)) continue;
        text += fmt::format("    {:<3} {} ({}): {}\n", name_of(socket.direction), socket.name, socket.shape(),
                            text_of(bytes_of(call.frame, call.module, s), socket.type, elements));
    }
    return text;
}

}  // namespace

DebugPrint::DebugPrint(Sink sink, DebugLimits limits) : sink_(std::move(sink)), limits_(std::move(limits)) {}

ThreadObserver& DebugPrint::watch(const ObservedThread& thread) {
    return threads_.emplace_back(*this, thread);
}

bool DebugPrint::wanted(const ObservedCall& call) const {
    const std::uint64_t number = call.frame.number();
    return number >= limits_.first_frame && number - limits_.first_frame < limits_.frames &&
           call.task.name.starts_with(limits_.only);
}

void DebugPrint::tell(const std::string& text) {
    const std::lock_guard lock(mutex_);
    sink_(text);
}

void DebugPrint::Thread::called(const ObservedCall& call) {
    if (!owner_.wanted(call)) return;
    owner_.tell(fmt::format("{} frame {}, stage {} thread {}: {} in {:.2f} us\n", call.task.name,
                            call.frame.number(), stage_ + 1, replica_ + 1, name_of(call.flow),
                            to_ns(call.end - call.start) / 1000) +
                socket_lines(call, owner_.limits_.elements));
}

}  // namespace tidemill
