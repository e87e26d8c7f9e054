#include "tidemill/graph/stream_end.hpp"

#include <cstring>

namespace tidemill {

void make_end_plan(const EndOfStream& end, Plan& plan) {
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
        if (!end.runs[step]) plan.steps[step].task.holes |= kEndHole;
    }
    plan.steps[end.step].told_of_end = true;
}

void leave_out_inputs(const Module& module, std::uint32_t task, std::vector<internal::Address>& addresses) {
    for (std::size_t s = 0; s < module.sockets().size(); ++s) {
        const SocketInfo& socket = module.sockets()[s];
        const internal::Base base = addresses[s].base;
        const bool has_data = socket.direction == Direction::out || base == internal::Base::constant ||
                              base == internal::Base::knobs;
        if (socket.task == task && !has_data) addresses[s] = {internal::Base::absent, 0};
    }
}

EndCall::EndCall(const Plan& plan, std::uint32_t step, const Module& module)
    : addresses_(plan.addresses[plan.steps[step].task.id.module]) {
    const std::uint32_t task = plan.steps[step].task.id.task;
    call_ = module.tasks()[task].call;
    code_ = module.tasks()[task].code;
    leave_out_inputs(module, task, addresses_);
}

internal::TaskCode EndCall::code() const {
    internal::TaskCode code;
    const EndCall* self = this;
    std::memcpy(code.bytes.data(), &self, sizeof(void*));
    return code;
}

Flow EndCall::call(Module& module, const internal::TaskCode& code, Frame frame) {
    EndCall* self = nullptr;
    std::memcpy(&self, code.bytes.data(), sizeof(void*));
    return self->run(module, frame.context());
}

// Nothing comes of a frame that the task skips, and nothing behind it.
Flow EndCall::run(Module& module, const internal::FrameContext& context) {
    if (!has_more_) return Flow::stop;
    internal::FrameContext own = context;
    own.at_end = true;
    const Flow flow = call_(module, code_, Frame(own, addresses_.data()));
    has_more_ = flow == Flow::again;
    return flow == Flow::skip ? Flow::stop : has_more_ ? Flow::ok : flow;
}

}  // namespace tidemill
