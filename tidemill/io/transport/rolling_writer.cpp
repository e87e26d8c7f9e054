#include "tidemill/io/transport/rolling_writer.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

// In one second; beyond, something is wrong with the place.
constexpr int kMostAlike = 1000;

// A name from a checkpoint must not lead anywhere else.
bool names_part(const std::string& part) {
    constexpr std::size_t kLeast = 16, kMost = 24;
    return part.size() >= kLeast && part.size() <= kMost &&
           part.find_first_not_of("0123456789TZ-") == std::string::npos;
}

}  // namespace

RollingWriter::RollingWriter(std::filesystem::path path, const RollLimits& limits, RollClock clock)
    : path_(std::move(path)), limits_(limits), clock_(std::move(clock)) {
    begin_file();
}

std::filesystem::path RollingWriter::path_of(const std::string& part) const {
    return path_.parent_path() /
           fmt::format("{}.{}{}", path_.stem().string(), part, path_.extension().string());
}

void RollingWriter::begin_file() {
    const std::time_t now = std::chrono::system_clock::to_time_t(clock_.date());
    const std::string date = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
    for (int number = 1; number <= kMostAlike; ++number) {
        const std::string part = number == 1 ? date : fmt::format("{}-{}", date, number);
        std::optional<ByteWriter> made = ByteWriter::make(path_of(part));
        if (!made) continue;
        file_.reset();
        file_.emplace(std::move(*made));
        part_ = part;
        taken_ = 0;
        begun_ = clock_.steady();
        return;
    }
    throw IoError(fmt::format("cannot write to '{}': {} files of that second are there",
                              path_of(date).string(), kMostAlike));
}

bool RollingWriter::is_full(std::size_t more) const {
    if (taken_ == 0) return false;
    return (limits_.bytes > 0 && taken_ + more > limits_.bytes) ||
           (limits_.age.count() > 0 && clock_.steady() - begun_ >= limits_.age);
}

void RollingWriter::write(std::span<const std::uint8_t> piece) {
    if (is_full(piece.size())) {
        without_file_ = piece.size();
        file_->close();
        begin_file();
        without_file_ = 0;
    }
    file_->write(piece);
    taken_ += piece.size();
}

void RollingWriter::go_on_at(const std::string& part, std::uint64_t bytes) {
    if (!names_part(part)) throw IoError("a checkpoint names no part of '" + path_.string() + "'");
    const std::filesystem::path path = path_of(part);
    if (!std::filesystem::is_regular_file(path))
        throw IoError(fmt::format("'{}' is not there any more, or is no file", path.string()));
    file_.reset();  // the one that was just begun, and is empty, goes
    file_.emplace(path);
    file_->go_on_at(bytes);
    part_ = part;
    taken_ = bytes;
    begun_ = clock_.steady();
}

}  // namespace tidemill::io
