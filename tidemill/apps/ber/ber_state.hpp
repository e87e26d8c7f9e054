#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "tidemill/base/text_file.hpp"
#include "tidemill/dvbs2/ber/ber_counts.hpp"
#include "tidemill/dvbs2/ber/ber_point.hpp"

namespace tidemill::cli {

/// Counts so far, kept in a file, so that a long count may be broken off and taken up again.
class BerState {
  public:
    /// Reads `path` when it is there; an empty path keeps nothing. Throws io::IoError for any other file, and
    /// JobFailed where another program uses it.
    explicit BerState(std::filesystem::path path);

    /// Known counts of a point; none of one with other settings.
    dvbs2::BerCounts counts_of(const dvbs2::BerPoint& point) const;

    /// Remembers counts and writes the file, which is never half written. Throws JobFailed.
    void put(const dvbs2::BerPoint& point, const dvbs2::BerCounts& counts);

  private:
    void read();

    std::filesystem::path path_;
    std::optional<FileLock> lock_{};
    std::map<std::string, dvbs2::BerCounts> counts_;  // by all settings of a point
};

}  // namespace tidemill::cli
