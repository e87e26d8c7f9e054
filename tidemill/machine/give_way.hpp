#pragma once

namespace tidemill {

/// From now on the calling thread runs only where no other wants the core: for work that nobody waits for.
void give_way_to_all();

}  // namespace tidemill
