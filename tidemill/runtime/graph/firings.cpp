#include "tidemill/runtime/graph/firings.hpp"

#include <algorithm>

#include "tidemill/runtime/graph/module.hpp"

namespace tidemill {

Firings::Firings(const Plan& plan, std::uint32_t step, const Module& module, const internal::BoundCall& inner)
    : inner_(inner),
      count_(plan.steps[step].task.firings),
      first_addresses_(plan.addresses[plan.steps[step].task.id.module]),
      addresses_(first_addresses_),
      owner_firings_(module.sockets().size(), 1) {
    const std::uint32_t task = plan.steps[step].task.id.task;
    for (std::size_t s = 0; s < module.sockets().size(); ++s) {
        const SocketInfo& socket = module.sockets()[s];
        // Every firing reads the same constants and knobs.
        if (socket.task != task || addresses_[s].base == internal::Base::constant || socket.knob) continue;
        const auto bytes = static_cast<std::uint32_t>(socket.bytes());
        const auto label = std::ranges::find(plan.steps[step].labels, s, &LabelRead::socket);
        if (label == plan.steps[step].labels.end()) {
            strides_.push_back({s, bytes});
        } else {
            labels_.push_back({s, bytes, label->owner_firings});
            owner_firings_[s] = label->owner_firings;
        }
    }
}

Flow Firings::fire(Module& module, const internal::TaskCode& code, Frame frame) {
    return internal::pointed_to<Firings>(code).run(module, frame.context());
}

void Firings::go_on(std::uint32_t firing) {
    for (const Stride& stride : strides_) addresses_[stride.socket].offset += stride.bytes;
    for (const LabelStride& label : labels_) {
        const std::uint64_t at = std::uint64_t{firing} * label.owner_firings / count_;
        addresses_[label.socket].offset =
            first_addresses_[label.socket].offset + static_cast<std::uint32_t>(at) * label.bytes;
    }
}

Flow Firings::run(Module& module, const internal::FrameContext& context) {
    internal::FrameContext own = context;
    own.number *= count_;
    own.firings = count_;
    own.owner_firings = owner_firings_.data();
    addresses_ = first_addresses_;
    for (std::uint32_t firing = 0; firing < count_; ++firing, ++own.number) {
        own.firing = firing;
        const Flow flow = inner_(module, Frame(own, addresses_.data()));
        if (flow != Flow::ok) return flow;
        go_on(firing + 1);
    }
    return Flow::ok;
}

}  // namespace tidemill
