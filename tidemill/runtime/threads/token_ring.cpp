#include "tidemill/runtime/threads/token_ring.hpp"

#include "tidemill/runtime/threads/internal/token_ring_code.hpp"

namespace tidemill {

template class BasicTokenRing<RealThreads>;

}  // namespace tidemill
