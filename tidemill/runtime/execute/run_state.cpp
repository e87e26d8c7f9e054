#include "tidemill/runtime/execute/run_state.hpp"

#include "tidemill/runtime/execute/run_state_code.hpp"

namespace tidemill {

template class BasicRunState<RealThreads, FrameFailure>;

}  // namespace tidemill
