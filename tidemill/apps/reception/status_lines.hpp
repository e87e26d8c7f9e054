#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/rx_status.hpp"
#include "tidemill/io/transport/byte_writer.hpp"

namespace tidemill::cli {

/// Objects that are asked for a line of --status each second.
struct StatusAsked {
    RxStatus status;
    std::optional<std::size_t> carrier{};  ///< its number, which the line tells
};

/// Status lines while it lives, where they are wanted.
class StatusLines {
  public:
    /// Throws JobFailed where `place` cannot be written; an empty one is none.
    StatusLines(const std::string& place, std::vector<StatusAsked> asked);

    /// The last lines; throws JobFailed when one could not be written.
    void close();

  private:
    void write(const std::string& line);

    std::vector<StatusAsked> asked_;
    std::optional<io::ByteWriter> file_;
    std::optional<Every> ticks_;
};

}  // namespace tidemill::cli
