#pragma once

#include "tidemill/lab/sim/os/machine.hpp"

namespace tidemill::os {

class System;

/// Addition to a scheduler that only balances loads: two programs on cores of different kinds change places
/// where that saves more than a tenth of their load, and one that runs alone goes to an idle core on which it
/// takes less. Of all pairs with a program on `core`, the one that saves most. Programs of which a factor is
/// absent stay.
void exchange_by_factors(System& system, CoreId core);

}  // namespace tidemill::os
