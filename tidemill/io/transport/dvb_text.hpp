#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tidemill::io {

/// A text of EN 300 468, annex A, in valid UTF-8. Its first byte names the character table: ISO 6937 by
/// default, ISO 8859-1 to -15, UCS-2, KS X 1001, GB 2312, Big5 or UTF-8; the system's iconv knows them. A
/// byte that is no character there becomes U+FFFD, and control codes of annex A are left out.
std::string dvb_text(std::span<const std::uint8_t> text);

}  // namespace tidemill::io
