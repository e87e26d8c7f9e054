#pragma once

#include <string>

#include "tidemill/apps/page/page_server.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::cli {

/// The knobs of a graph as sliders of a page: those that are one number with a range. What is set holds from
/// the next source frame on, and stands in the run's journal.
class PageKnobs {
  public:
    explicit PageKnobs(Graph& graph) : graph_(graph) {}

    /// Name, value, least and most of each.
    Json describe() const;

    /// Sets what a body like {"name": "tuner.offset_hz", "value": 400000} says. From any thread.
    page::PageAnswer set(const std::string& body);

  private:
    Graph& graph_;
};

}  // namespace tidemill::cli
