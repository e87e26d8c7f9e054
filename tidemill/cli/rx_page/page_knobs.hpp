#pragma once

#include <string>

#include "tidemill/graph/graph.hpp"
#include "tidemill/json/json.hpp"
#include "tidemill/page/page_server.hpp"

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
