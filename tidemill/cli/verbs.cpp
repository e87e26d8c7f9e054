#include "tidemill/cli/verbs.hpp"

#include "tidemill/apps/running/app_verbs.hpp"
#ifdef TIDEMILL_LAB
#include "tidemill/lab/lab_verbs.hpp"
#endif
#ifdef TIDEMILL_STEER
#include "tidemill/steer/bridge/bridge_verb.hpp"
#endif

namespace tidemill::cli {

void add_verbs(Verb& program) {
    for (const auto add : {
             add_topo,
             add_profile,
             add_schedule,
             add_pareto,
             add_calibrate,
#ifdef TIDEMILL_LAB
             add_simulate,
             add_rehearse,
             add_tasks,
#endif
#ifdef TIDEMILL_STEER
             add_bridge,
#endif
             add_dvbs2,
             add_radio,
#ifdef TIDEMILL_LAB
             add_reproduce,
             add_bench,
#endif
         }) {
        add(program);
    }
}

}  // namespace tidemill::cli
