#include "tidemill/machine/drop_rights.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/machine/platform_error.hpp"

namespace tidemill {
namespace {

// Status with which a child process ended; the rights of this one are to stay.
template <class Work>
int status_of_child(Work work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_no_capabilities() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        const bool tells =
            line.starts_with("CapEff") || line.starts_with("CapPrm") || line.starts_with("CapAmb");
        if (tells && line.find_first_of("123456789abcdef", line.find(':')) != std::string::npos) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("rights: who gives them up is another user for ever, without capabilities") {
    if (geteuid() != 0) {
        MESSAGE("skipped: only root can become another user");
        return;
    }
    const UserRights nobody = find_user("nobody");
    CHECK(status_of_child([&] {
              drop_rights(nobody);
              const bool changed = getuid() == nobody.user && getegid() == nobody.group;
              return changed && has_no_capabilities() && setuid(0) != 0 ? 0 : 1;
          }) == 0);
    const UserRights unknown{.user = 54321, .group = 54322};
    CHECK(status_of_child([&] {
              drop_rights(unknown);
              return getuid() == 54321 && getgid() == 54322 ? 0 : 1;
          }) == 0);
    CHECK_THROWS_WITH_AS(drop_rights({}), doctest::Contains("--user"), PlatformError);
    CHECK_THROWS_AS(drop_rights(UserRights{}), PlatformError);
}

TEST_CASE("rights: users are known by name and by number, and sudo tells who called it") {
    CHECK(find_user("root").user == 0);
    CHECK(find_user("0").user == 0);
    CHECK_THROWS_WITH_AS(find_user("no such user"), doctest::Contains("no such user"), PlatformError);
    CHECK(status_of_child([] {
              setenv("SUDO_UID", "54321", 1);
              setenv("SUDO_GID", "54322", 1);
              const auto user = user_behind_sudo();
              return user && user->user == 54321 && user->group == 54322 ? 0 : 1;
          }) == 0);
    CHECK(status_of_child([] {
              setenv("SUDO_UID", "1x", 1);
              setenv("SUDO_GID", "54322", 1);
              return user_behind_sudo() ? 1 : 0;
          }) == 0);
}

}  // namespace tidemill
