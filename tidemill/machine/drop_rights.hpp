#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

namespace tidemill {

/// User and group whose rights a program keeps.
struct UserRights {
    std::string name{};  ///< empty: the system knows none
    uid_t user = 0;
    gid_t group = 0;
};

/// A user of this system by name or number; throws PlatformError when there is none.
UserRights find_user(const std::string& name);

/// User that started this program with sudo; nobody when it was not started so.
std::optional<UserRights> user_behind_sudo();

/// Gives up for ever what this process may do beyond the rights of a user: root becomes `to`, and
/// capabilities go. To be called before there are threads. Throws PlatformError where root has nobody to
/// become, where there are threads, and where the rights are still there after it.
void drop_rights(const std::optional<UserRights>& to);

}  // namespace tidemill
