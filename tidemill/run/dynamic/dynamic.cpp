#include "tidemill/run/dynamic/dynamic.hpp"

#include <utility>

#include "tidemill/run/dynamic/dynamic_engine.hpp"

namespace tidemill {

Dynamic::Dynamic(Graph& graph, DynamicOptions options)
    : engine_(std::make_unique<DynamicEngine>(graph, std::move(options))) {}

// One that runs is stopped; one that runs this is left as it is.
Dynamic::~Dynamic() {
    if (!engine_->end_run()) engine_.release();
}

RunReport Dynamic::run(const RunOptions& options) {
    return engine_->run(options);
}

RunReport Dynamic::resume(const RunOptions& options) {
    return engine_->resume(options);
}

SetAt Dynamic::set(const KnobSettings& settings) {
    return engine_->set(settings);
}

Checkpoint Dynamic::checkpoint() {
    return engine_->checkpoint();
}

const Structure& Dynamic::structure() const {
    return engine_->structure();
}

std::vector<std::uint32_t> Dynamic::tokens() const {
    return engine_->tokens();
}

}  // namespace tidemill
