#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tidemill/runtime/graph/frame.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill {

/// The bytes that a socket of `module` holds on a frame; valid as long as the frame's task may look at them.
std::span<const std::byte> bytes_of(const Frame& frame, const Module& module, std::uint32_t socket);

/// Elements as text, at most `most` of them: numbers, (re im) pairs, and bytes in hexadecimal for types that
/// have no usual form. "1 2 3 ..." when there are more.
std::string text_of(std::span<const std::byte> bytes, const ElementType& type, std::size_t most);

}  // namespace tidemill
