#pragma once

#include <cstddef>
#include <functional>

namespace tidemill {

/// How many threads this process may run at the same time: cores that its affinity leaves it, one at least.
std::size_t cores_to_use();

/// Does work(0), work(1), ... work(count - 1), each once, on the caller's thread and `threads` - 1 others;
/// they are begun in this order. After an exception no more are begun; it is thrown when the last has ended,
/// the first of them where there are several. Throws NoMoreThreads.
void side_by_side(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace tidemill
