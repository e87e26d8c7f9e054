#include "tidemill/cli/verbs.hpp"

namespace tidemill::cli {

void add_verbs(Verb& program) {
    for (const auto add :
         {add_topo, add_profile, add_schedule, add_pareto, add_calibrate, add_simulate, add_rehearse,
          add_tasks, add_bridge, add_dvbs2, add_radio, add_reproduce, add_bench}) {
        add(program);
    }
}

}  // namespace tidemill::cli
