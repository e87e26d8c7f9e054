// Files that are replaced whole, and the rights to do that.
#include "tidemill/base/text_file.hpp"

#include <filesystem>
#include <optional>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill {
namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("text file: a link at the name of the file beside is never written through") {
    const ScratchFolder folder;
    const fs::path state = folder / "state", victim = folder / "victim";
    write_text(victim, "precious");
    for (int k = 0; k < 3; ++k)
        fs::create_symlink(victim, fmt::format("{}.{}-{}.new", state.string(), getpid(), k));
    check_replaceable(state);
    replace_text(state, "new");
    CHECK(ScratchFolder::content_of(state) == "new");
    CHECK(ScratchFolder::content_of(victim) == "precious");
}

TEST_CASE("text file: replacing keeps the rights of the file and what a link names") {
    const ScratchFolder folder;
    const fs::path file = folder / "file", link = folder / "link";
    write_text(file, "old");
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("file", link);
    replace_text(link, "new");
    CHECK(fs::is_symlink(link));
    CHECK(ScratchFolder::content_of(file) == "new");
    CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 2);
}

TEST_CASE("text file: a lock is held by one, in this process or another, and leaves no file") {
    const ScratchFolder folder;
    const fs::path file = folder / "state", link = folder / "link";
    fs::create_symlink("state", link);
    std::optional<FileLock> lock(file);
    CHECK_THROWS_AS(FileLock{file}, JsonError);
    CHECK_THROWS_AS(FileLock{link}, JsonError);
    const pid_t child = fork();
    if (child == 0) {
        try {
            const FileLock mine(file);
            _exit(1);
        } catch (const JsonError&) {
            _exit(0);
        }
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    lock.reset();
    CHECK_FALSE(fs::exists(file.string() + ".lock"));
    CHECK_NOTHROW(FileLock{link});
}

}  // namespace tidemill
