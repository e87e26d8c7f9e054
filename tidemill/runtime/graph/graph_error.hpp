#pragma once

#include <string>
#include <vector>

#include "tidemill/base/error.hpp"

namespace tidemill {

/// All faults of a graph, each with what is wrong, where, and what to do.
class GraphError : public Error {
  public:
    explicit GraphError(std::string fault) : GraphError(std::vector<std::string>{std::move(fault)}) {}
    explicit GraphError(std::vector<std::string> faults)
        : Error(joined(faults)), faults_(std::move(faults)) {}

    const std::vector<std::string>& faults() const { return faults_; }

  private:
    static std::string joined(const std::vector<std::string>& faults) {
        std::string text;
        for (const std::string& fault : faults) text += (text.empty() ? "" : "\n") + fault;
        return text;
    }

    std::vector<std::string> faults_;
};

}  // namespace tidemill
