#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tidemill::cli {

/// A folder for recordings that goes with its owner.
class FolderForNow {
  public:
    /// `what` is in its name.
    explicit FolderForNow(const char* what);
    ~FolderForNow();
    FolderForNow(const FolderForNow&) = delete;
    FolderForNow& operator=(const FolderForNow&) = delete;
    std::string operator/(const char* name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

/// Output of this program when it is called so. Throws JobFailed with its message where it fails.
std::string run_self(const std::vector<std::string>& arguments);

}  // namespace tidemill::cli
