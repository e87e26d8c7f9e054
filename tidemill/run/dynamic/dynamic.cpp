#include "tidemill/run/dynamic/dynamic.hpp"

#include <utility>

#include "tidemill/run/dynamic/dynamic_engine.hpp"

namespace tidemill {

Dynamic::Dynamic(Graph& graph, DynamicOptions options)
    : engine_(std::make_unique<DynamicEngine>(graph, std::move(options))) {}

Dynamic::~Dynamic() = default;

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
