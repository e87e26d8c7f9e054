#include "tidemill/runtime/execute/executor.hpp"

#include <utility>

#include "tidemill/runtime/execute/stream_engine.hpp"

namespace tidemill {

Executor::Executor(std::unique_ptr<StreamEngine> engine) : engine_(std::move(engine)) {}

// One that runs is stopped; one that runs this is left as it is.
Executor::~Executor() {
    if (!engine_->end_run()) engine_.release();
}

RunReport Executor::run(const RunOptions& options) {
    return engine_->run(options);
}

RunReport Executor::resume(const RunOptions& options) {
    return engine_->resume(options);
}

SetAt Executor::set(const KnobSettings& settings) {
    return engine_->set(settings);
}

Checkpoint Executor::checkpoint() {
    return engine_->checkpoint();
}

const Graph& Executor::graph() const {
    return engine_->graph();
}

const Structure& Executor::structure() const {
    return engine_->structure();
}

}  // namespace tidemill
