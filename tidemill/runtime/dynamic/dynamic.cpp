#include "tidemill/runtime/dynamic/dynamic.hpp"

#include <utility>

#include "tidemill/runtime/dynamic/dynamic_engine.hpp"

namespace tidemill {

Dynamic::Dynamic(Graph& graph, DynamicOptions options)
    : Executor(std::make_unique<DynamicEngine>(graph, std::move(options))) {}

std::vector<std::uint32_t> Dynamic::tokens() const {
    return engine<DynamicEngine>().tokens();
}

}  // namespace tidemill
