#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/lab/sim/sim_error.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// A file of `data/` that the program carries with it.
struct PublishedText {
    std::string_view name;  ///< "published/table1.csv"
    std::string_view text;
};

/// All files of published numbers, profiles and graphs that the program carries with it.
std::span<const PublishedText> published_texts();

/// The file of that name; throws SimError naming it when the program does not carry it.
std::string_view published_text(std::string_view name);

/// A line of a published table by its columns.
class PublishedRow {
  public:
    explicit PublishedRow(std::map<std::string, std::string, std::less<>> cells) : cells_(std::move(cells)) {}

    const std::string& text(std::string_view column) const;
    double number(std::string_view column) const;
    int count(std::string_view column) const { return static_cast<int>(number(column)); }
    /// Whether there is a number: not everything was measured.
    bool known(std::string_view column) const { return !text(column).empty(); }

  private:
    std::map<std::string, std::string, std::less<>> cells_;
};

/// The lines of `published/NAME.csv`.
std::vector<PublishedRow> published_table(std::string_view name);

/// The DVB-S2 receiver's profile on "opi5", "m1u", "ai370" or "x7ti".
Profile published_profile(std::string_view platform);

/// Stages as they are published: "5B1 8B1 4L3" is five tasks on one big core, eight on another, four on three
/// little ones.
Schedule published_schedule(std::string_view stages);

/// Information bits of a frame in the published experiments: K_bch of short frames at 8/9 (EN 302 307-1,
/// table 5b).
inline constexpr double kPublishedBitsPerFrame = 14232;

/// Information throughput at a period between executions.
double mbps(const Profile& profile, double period_us);

}  // namespace tidemill
