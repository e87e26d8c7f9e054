#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <stdlib.h>

namespace tidemill::testing {

/// A made-up system root that goes away with the test.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "tidemill-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string root() const { return path_.string(); }
    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((path_ / file).parent_path());
        std::ofstream(path_ / file) << text << '\n';
    }

  private:
    std::filesystem::path path_;
};

}  // namespace tidemill::testing
