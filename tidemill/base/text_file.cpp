#include "tidemill/base/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/base/json_error.hpp"

namespace tidemill {
namespace {

constexpr std::size_t kEnoughToRefuse = JsonLimits::kBytes + 1;
constexpr int kMostNames = 100;  // that are tried for a file beside another

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

// The new file gets the rights and the owner of the one it replaces.
void take_over_rights(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::error_code none;
    const auto status = std::filesystem::status(from, none);
    if (std::filesystem::exists(status)) std::filesystem::permissions(to, status.permissions(), none);
}

// Beside the target, under a name that was free: what somebody else has put there, a link say, is never
// written to.
std::filesystem::path written_beside(const std::filesystem::path& target, const std::string& text) {
    std::filesystem::path fresh;
    int descriptor = -1;
    errno = EEXIST;
    for (int tries = 0; descriptor < 0 && errno == EEXIST && tries < kMostNames; ++tries) {
        fresh = fmt::format("{}.{}-{}.new", target.string(), getpid(), tries);
        descriptor = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (descriptor < 0) fail_with_errno(fresh, "open for writing");
    std::size_t written = 0;
    ssize_t some = 0;
    while (written < text.size() && some >= 0) {
        some = write(descriptor, text.data() + written, text.size() - written);
        if (some < 0 && errno == EINTR) some = 0;
        if (some > 0) written += static_cast<std::size_t>(some);
    }
    if (written == text.size() && fsync(descriptor) == 0 && close(descriptor) == 0) return fresh;
    const int why = errno;
    close(descriptor);
    unlink(fresh.c_str());
    errno = why;
    fail_with_errno(fresh, "write all of it");
}

std::filesystem::path written_for(const std::filesystem::path& path, const std::string& text) {
    try {
        return written_beside(target_of(path), text);
    } catch (const JsonError& error) {
        throw JsonError(
            fmt::format("{}: cannot be written beside its place ({})", path.string(), error.what()));
    }
}

// The file that a lock is on may have been removed by its last holder.
bool still_names(const std::filesystem::path& path, int descriptor) {
    struct stat by_name {
    }, open_one{};
    return lstat(path.c_str(), &by_name) == 0 && fstat(descriptor, &open_one) == 0 &&
           by_name.st_ino == open_one.st_ino && by_name.st_dev == open_one.st_dev;
}

}  // namespace

void check_replaceable(const std::filesystem::path& path) {
    unlink(written_for(path, {}).c_str());
}

void replace_text(const std::filesystem::path& path, const std::string& text) {
    const std::filesystem::path target = target_of(path);
    std::error_code failed;
    if (std::filesystem::exists(target, failed) && !std::filesystem::is_regular_file(target, failed))
        throw JsonError(fmt::format("{}: is no file, and cannot be replaced by one", path.string()));
    const std::filesystem::path fresh = written_for(path, text);
    take_over_rights(target, fresh);
    std::filesystem::rename(fresh, target, failed);
    if (!failed) return;
    const std::string why = failed.message();
    std::filesystem::remove(fresh, failed);
    throw JsonError(fmt::format("{}: cannot be replaced: {}", path.string(), why));
}

FileLock::FileLock(const std::filesystem::path& path) : path_(target_of(path).string() + ".lock") {
    do {
        descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (descriptor_ < 0) fail_with_errno(path_, "open for writing");
        if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(descriptor_);
            throw JsonError(
                fmt::format("{}: another program uses it: end that, or name another file", path.string()));
        }
    } while (!still_names(path_, descriptor_) && close(descriptor_) == 0);
}

FileLock::~FileLock() {
    unlink(path_.c_str());
    close(descriptor_);
}

}  // namespace tidemill
