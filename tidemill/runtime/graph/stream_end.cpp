#include "tidemill/runtime/graph/stream_end.hpp"

namespace tidemill {

void make_end_plan(const EndOfStream& end, Plan& plan) {
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
        if (!end.runs[step]) plan.steps[step].task.holes |= kEndHole;
    }
    plan.steps[end.step].told_of_end = true;
}

void leave_out_inputs(const Module& module, std::uint32_t task, internal::AddressTable& addresses) {
    for (std::size_t s = 0; s < module.sockets().size(); ++s) {
        const SocketInfo& socket = module.sockets()[s];
        const internal::Base base = addresses[s].base;
        const bool has_data = socket.direction == Direction::out || base == internal::Base::constant ||
                              base == internal::Base::knobs;
        if (socket.task == task && !has_data) addresses[s] = {internal::Base::absent, 0};
    }
}

EndCall::EndCall(const Plan& plan, std::uint32_t step, const Module& module, const internal::BoundCall& inner)
    : inner_(inner), addresses_(plan.addresses[plan.steps[step].task.id.module]) {
    leave_out_inputs(module, plan.steps[step].task.id.task, addresses_);
}

Flow EndCall::call(Module& module, const internal::TaskCode& code, Frame frame) {
    return internal::pointed_to<EndCall>(code).run(module, frame.context());
}

// Nothing comes of a frame that the task skips, and nothing behind it.
Flow EndCall::run(Module& module, const internal::FrameContext& context) {
    if (!has_more_) return Flow::stop;
    internal::FrameContext own = context;
    own.at_end = true;
    const Flow flow = inner_(module, Frame(own, addresses_.data()));
    has_more_ = flow == Flow::again;
    return flow == Flow::skip ? Flow::stop : has_more_ ? Flow::ok : flow;
}

}  // namespace tidemill
