#include "tidemill/machine/drop_rights.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tidemill/machine/platform_error.hpp"

namespace tidemill {

namespace {

[[noreturn]] void fail_rights(const char* what) {
    throw PlatformError(fmt::format("cannot give up rights: {}: {}", what, std::strerror(errno)));
}

void must(bool done, const char* what) {
    if (!done) fail_rights(what);
}

template <class Number>
std::optional<Number> id_in(const char* text) {
    if (text == nullptr) return std::nullopt;
    Number id = 0;
    const char* const end = text + std::strlen(text);
    const auto [stopped, error] = std::from_chars(text, end, id);
    if (error != std::errc() || stopped != end) return std::nullopt;
    return id;
}

UserRights rights_of(const passwd& entry) {
    return {entry.pw_name, entry.pw_uid, entry.pw_gid};
}

bool has_threads() {
    std::error_code none;
    const std::filesystem::directory_iterator tasks("/proc/self/task", none);
    return !none && std::distance(begin(tasks), end(tasks)) > 1;
}

void become(const UserRights& to) {
    if (to.name.empty()) {
        must(setgroups(1, &to.group) == 0, "setgroups");
    } else {
        must(initgroups(to.name.c_str(), to.group) == 0, "initgroups");
    }
    must(setresgid(to.group, to.group, to.group) == 0, "setresgid");
    must(setresuid(to.user, to.user, to.user) == 0, "setresuid");
}

void drop_capabilities() {
    constexpr int kMostCapabilities = 64;
    for (int each = 0; each < kMostCapabilities; ++each)
        prctl(PR_CAPBSET_DROP, each, 0, 0, 0);  // holders of the right
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

void clear_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    must(syscall(SYS_capset, &header, none) == 0, "capset");
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
}

}  // namespace

UserRights find_user(const std::string& name) {
    if (const passwd* const entry = getpwnam(name.c_str())) return rights_of(*entry);
    if (const auto id = id_in<uid_t>(name.c_str()))
        if (const passwd* const entry = getpwuid(*id)) return rights_of(*entry);
    throw PlatformError(fmt::format("this system knows no user '{}'", name));
}

std::optional<UserRights> user_behind_sudo() {
    const auto user = id_in<uid_t>(std::getenv("SUDO_UID"));
    const auto group = id_in<gid_t>(std::getenv("SUDO_GID"));
    if (!user || !group || *user == 0) return std::nullopt;
    const passwd* const entry = getpwuid(*user);
    return UserRights{entry ? entry->pw_name : "", *user, *group};
}

void drop_rights(const std::optional<UserRights>& to) {
    const bool is_root = geteuid() == 0 || getuid() == 0;
    if (is_root && (!to || to->user == 0))
        throw PlatformError("root has rights to give up: say whose remain (--user NAME), or start with sudo");
    if (has_threads()) throw PlatformError("cannot give up rights: there are threads already");
    drop_capabilities();
    if (is_root) become(*to);
    clear_capabilities();
    if (is_root && setresuid(0, 0, 0) == 0) throw PlatformError("root's rights are still there");
}

}  // namespace tidemill
