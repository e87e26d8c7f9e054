#include "tidemill/run/token_ring.hpp"

#include "tidemill/run/internal/token_ring_code.hpp"

namespace tidemill {

template class BasicTokenRing<RealThreads>;

}  // namespace tidemill
