#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/graph/task.hpp"

namespace tidemill {

/// A task that runs several times per frame, as one call: each firing finds its elements behind those of the
/// firing before, and counts as a frame of its own. Serves one thread; stays where it was made.
class Firings {
  public:
    /// For step `step` of `plan`, which lives as long as this; `inner` fires once.
    Firings(const Plan& plan, std::uint32_t step, const Module& module, const internal::BoundCall& inner);
    Firings(const Firings&) = delete;
    Firings& operator=(const Firings&) = delete;

    /// Function to call, with `code()`, in the task's stead.
    static Flow fire(Module& module, const internal::TaskCode& code, Frame frame);
    internal::TaskCode code() const { return internal::code_that_points_to(*this); }

  private:
    struct Stride {
        std::size_t socket;
        std::uint32_t bytes;
    };
    struct LabelStride {
        std::size_t socket;
        std::uint32_t bytes;
        std::uint32_t owner_firings;
    };

    void go_on(std::uint32_t firing);
    Flow run(Module& module, const internal::FrameContext& context);

    internal::BoundCall inner_;
    std::uint32_t count_;
    const internal::AddressTable& first_addresses_;
    internal::AddressTable addresses_;  // of the firing that runs
    std::vector<Stride> strides_;
    std::vector<LabelStride> labels_;
    std::vector<std::uint32_t> owner_firings_;  // per socket
};

}  // namespace tidemill
