#pragma once

namespace tidemill {

/// Version of the program: results of one are not for another.
const char* version();

}  // namespace tidemill
