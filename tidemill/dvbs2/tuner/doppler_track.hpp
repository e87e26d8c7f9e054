#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace tidemill::dvbs2 {

/// How far a moving transmitter's carrier lies from where it would lie if it stood still, through time, as a
/// tracking program predicts it: straight lines between its points, and its ends go on for ever.
class DopplerTrack {
  public:
    struct Point {
        double time_s = 0;
        double hz = 0;
    };

    /// At least one point, times rising; throws Dvbs2Error otherwise.
    explicit DopplerTrack(std::vector<Point> points);

    double hz_at(double time_s) const;

  private:
    std::vector<Point> points_;
};

/// Reads lines of a time in seconds from the first sample and a number of hertz, parted by spaces, a comma or
/// a semicolon; lines that are empty or begin with # say nothing. Throws Dvbs2Error with the line's number.
DopplerTrack parse_doppler_track(std::string_view text);

/// The same from a file of at most 16 MB. Throws io::IoError, with its name.
DopplerTrack read_doppler_track(const std::filesystem::path& file);

}  // namespace tidemill::dvbs2
