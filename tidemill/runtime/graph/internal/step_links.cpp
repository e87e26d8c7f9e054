#include "tidemill/runtime/graph/internal/step_links.hpp"

#include <map>

namespace tidemill::internal {
namespace {

class StepLinks {
  public:
    StepLinks(const Structure& structure, Plan& plan) : steps_(plan.steps) {
        for (const Region& region : structure.regions) begins_at_.emplace(region.steps.begin, &region);
    }

    /// Links steps [begin, end), and the last of them to `after`.
    void link(std::uint32_t begin, std::uint32_t end, std::uint32_t after) {
        std::uint32_t at = begin;
        while (at < end) {
            const auto found = begins_at_.find(at);
            const Region* const region = found == begins_at_.end() ? nullptr : found->second;
            const std::uint32_t until = region ? region->steps.end : at + 1;
            const std::uint32_t next = until == end ? after : until;
            if (!region) {
                steps_[at].next = steps_[at].next_at_hole = next;
            } else if (region->is_loop) {
                link_loop(*region, next);
            } else {
                link_switch(*region, next);
            }
            at = until;
        }
    }

  private:
    void link_loop(const Region& loop, std::uint32_t after) {
        const StepRange body = loop.paths.front();
        Step& select = steps_[loop.select];
        Step& commute = steps_[loop.commute];
        select.next = loop.select + 1;
        select.next_at_hole = commute.next_at_hole = after;
        commute.control.targets = {after, body.empty() ? loop.select : body.begin};
        link(loop.select + 1, loop.commute, loop.commute);
        link(body.begin, body.end, loop.select);
    }

    void link_switch(const Region& region, std::uint32_t after) {
        steps_[region.commute].next_at_hole = after;
        steps_[region.select].next = steps_[region.select].next_at_hole = after;
        for (const StepRange& path : region.paths) {
            steps_[region.commute].control.targets.push_back(path.empty() ? region.select : path.begin);
            link(path.begin, path.end, region.select);
        }
    }

    std::map<std::uint32_t, const Region*> begins_at_;  // the outermost, by its first step
    std::vector<Step>& steps_;
};

}  // namespace

void link_steps(const Structure& structure, Plan& plan) {
    StepLinks links(structure, plan);
    for (const PlannedStage& stage : plan.stages)
        for (const Part& part : stage.parts) links.link(part.first_step, part.last_step, kNoStep);
}

}  // namespace tidemill::internal
