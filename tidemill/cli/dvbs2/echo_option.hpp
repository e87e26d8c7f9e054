#pragma once

#include <string>

#include "tidemill/dvbs2/channel/multipath.hpp"

namespace tidemill::cli {

/// Reads "SYMBOLS,DB" and "SYMBOLS,DB,DEGREES" of --echo; throws WrongUsage.
dvbs2::Echo echo_of(const std::string& text);

}  // namespace tidemill::cli
