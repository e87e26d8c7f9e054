#include "tidemill/dvbs2/tuner/doppler_track.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/transport/byte_reader.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kMostFileBytes = 16 << 20;
constexpr std::string_view kBetween = " \t,;\r";

std::string_view without_edges(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBetween);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBetween) - first + 1);
}

// Takes a number from the beginning of a text; none where there is none.
std::optional<double> take_number(std::string_view& text) {
    text = without_edges(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number)) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && kBetween.find(text.front()) == std::string_view::npos) return {};
    return number;
}

std::optional<DopplerTrack::Point> point_of(std::string_view line) {
    const auto time_s = take_number(line);
    const auto hz = time_s ? take_number(line) : std::nullopt;
    if (!hz || !without_edges(line).empty()) return {};
    return DopplerTrack::Point{*time_s, *hz};
}

}  // namespace

DopplerTrack::DopplerTrack(std::vector<Point> points) : points_(std::move(points)) {
    if (points_.empty()) throw Dvbs2Error("a track of Doppler shifts needs at least one line: time in s, Hz");
    const auto falls = [](const Point& a, const Point& b) { return !(a.time_s < b.time_s); };
    const auto wrong = std::ranges::adjacent_find(points_, falls);
    if (wrong == points_.end()) return;
    throw Dvbs2Error(fmt::format("a track of Doppler shifts goes on in time: {} s stands behind {} s",
                                 std::next(wrong)->time_s, wrong->time_s));
}

double DopplerTrack::hz_at(double time_s) const {
    const auto after = std::ranges::upper_bound(points_, time_s, {}, &Point::time_s);
    if (after == points_.begin()) return after->hz;
    const Point& before = *std::prev(after);
    if (after == points_.end()) return before.hz;
    const double share = (time_s - before.time_s) / (after->time_s - before.time_s);
    return std::lerp(before.hz, after->hz, share);
}

DopplerTrack parse_doppler_track(std::string_view text) {
    std::vector<DopplerTrack::Point> points;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = without_edges(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.starts_with('#')) continue;
        const auto point = point_of(line);
        if (!point)
            throw Dvbs2Error(
                fmt::format("line {}: two numbers are wanted, the seconds from the first sample "
                            "and the hertz: 12.5 -3140",
                            number));
        points.push_back(*point);
    }
    return DopplerTrack(std::move(points));
}

DopplerTrack read_doppler_track(const std::filesystem::path& file) {
    io::ByteReader reader(file);
    std::string text(kMostFileBytes, '\0');
    const std::size_t bytes = reader.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
    if (bytes == text.size())
        throw io::IoError(fmt::format("{}: a track of Doppler shifts of 16 MB or more", file.string()));
    text.resize(bytes);
    try {
        return parse_doppler_track(text);
    } catch (const Dvbs2Error& error) {
        throw io::IoError(fmt::format("{}: {}", file.string(), error.what()));
    }
}

}  // namespace tidemill::dvbs2
