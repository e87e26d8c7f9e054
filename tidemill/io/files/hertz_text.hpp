#pragma once

#include <string>

namespace tidemill::io {

/// A frequency or rate in six digits, as options take it, too: 48k, 333k, 1.26M, 10.7G, 600.
std::string hertz_text(double hz);
/// The same with its sign: +126.7k.
std::string signed_hertz_text(double hz);

}  // namespace tidemill::io
