#include "tidemill/json/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/json/json_error.hpp"

namespace tidemill {
namespace {

constexpr std::size_t kEnoughToRefuse = JsonLimits::kBytes + 1;

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, std::string_view doing) {
    throw JsonError(fmt::format("{}: cannot {}: {}", path.string(), doing, std::strerror(errno)));
}

// Piece by piece: what a file says of its size is no reason to get that much memory.
std::string read_at_most(std::istream& from, std::size_t most) {
    constexpr std::size_t kPiece = std::size_t{1} << 16;
    std::string text;
    while (text.size() < most && from) {
        const std::size_t before = text.size();
        text.resize(std::min(before + kPiece, most));
        from.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
        text.resize(before + static_cast<std::size_t>(from.gcount()));
    }
    return text;
}

}  // namespace

Json read_json(const std::filesystem::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) fail_with_errno(path, "open for reading");
    const std::string text = read_at_most(file, kEnoughToRefuse);
    std::error_code unknown;
    if (file.bad() || std::filesystem::is_directory(path, unknown)) fail_with_errno(path, "read");
    return parse_json(text, path.string());
}

bool next_line(std::istream& from, std::string& line) {
    line.clear();
    for (int c = from.get(); c != std::istream::traits_type::eof(); c = from.get()) {
        if (c == '\n') return true;
        line.push_back(static_cast<char>(c));
        if (line.size() == kEnoughToRefuse) {
            from.setstate(std::ios::eofbit);
            return true;
        }
    }
    return !line.empty();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file) fail_with_errno(path, "open for writing");
    file << text;
    file.close();
    if (!file) fail_with_errno(path, "write all of it");
}

namespace {

std::filesystem::path target_of(const std::filesystem::path& path) {
    constexpr int kMostLinks = 40;  // as the system does
    std::error_code none;
    std::filesystem::path target = path;
    for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(target, none); ++links)
        target = target.parent_path() / std::filesystem::read_symlink(target, none);
    return target;
}

// Whoever may read the file may read what takes its place.
void take_over_rights(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::error_code none;
    const auto status = std::filesystem::status(from, none);
    if (std::filesystem::exists(status)) std::filesystem::permissions(to, status.permissions(), none);
}

// A name that was renamed is in the disk's journal before what it names is on the disk.
void sync(const std::filesystem::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    fsync(file);
    close(file);
}

}  // namespace

void check_replaceable(const std::filesystem::path& path) {
    const std::filesystem::path fresh = fmt::format("{}.{}.new", target_of(path).string(), getpid());
    std::error_code none;
    try {
        write_text(fresh, {});
    } catch (const JsonError& error) {
        throw JsonError(
            fmt::format("{}: cannot be written beside its place ({})", path.string(), error.what()));
    }
    std::filesystem::remove(fresh, none);
}

void replace_text(const std::filesystem::path& path, const std::string& text) {
    const std::filesystem::path target = target_of(path);
    const std::filesystem::path fresh = fmt::format("{}.{}.new", target.string(), getpid());
    std::error_code failed;
    if (std::filesystem::exists(target, failed) && !std::filesystem::is_regular_file(target, failed))
        throw JsonError(fmt::format("{}: is no file, and cannot be replaced by one", path.string()));
    try {
        write_text(fresh, text);
    } catch (const JsonError& error) {
        std::filesystem::remove(fresh, failed);
        throw JsonError(
            fmt::format("{}: cannot be written beside its place ({})", path.string(), error.what()));
    }
    take_over_rights(target, fresh);
    sync(fresh);
    std::filesystem::rename(fresh, target, failed);
    if (!failed) return;
    const std::string why = failed.message();
    std::filesystem::remove(fresh, failed);
    throw JsonError(fmt::format("{}: cannot be replaced: {}", path.string(), why));
}

}  // namespace tidemill
