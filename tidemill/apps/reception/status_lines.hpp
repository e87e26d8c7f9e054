#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/rx_status.hpp"
#include "tidemill/io/transport/byte_writer.hpp"

namespace tidemill::cli {

/// Objects that are asked for a line of --status each second.
struct StatusSources {
    RxStatus status;
    std::optional<std::size_t> carrier{};  ///< its number in the line
};

/// Status lines while it lives, where they are wanted.
class StatusLines {
  public:
    /// Throws JobFailed where `place` cannot be written; an empty one means no file.
    StatusLines(const std::string& place, std::vector<StatusSources> asked);

    /// The last lines; throws JobFailed when one could not be written.
    void close();

  private:
    void write(const std::string& line);

    std::vector<StatusSources> asked_;
    std::optional<io::ByteWriter> file_;
    std::optional<Every> ticks_;
};

}  // namespace tidemill::cli
