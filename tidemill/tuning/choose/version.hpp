#pragma once

namespace tidemill {

/// Of the program: what one learned is not for another.
const char* version();

}  // namespace tidemill
