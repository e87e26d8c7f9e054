#include "tidemill/machine/give_way.hpp"

#include <sched.h>

namespace tidemill {

void give_way_to_all() {
    // The policy is that of a thread, not of the process; where it is refused, the thread takes its share as
    // others do.
    const sched_param none{};
    (void)sched_setscheduler(0, SCHED_IDLE, &none);
}

}  // namespace tidemill
