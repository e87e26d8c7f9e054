#include "tidemill/run/run_state.hpp"

#include "tidemill/run/internal/run_state_code.hpp"

namespace tidemill {

template class BasicRunState<RealThreads, FrameFailure>;

}  // namespace tidemill
