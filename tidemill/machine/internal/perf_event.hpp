#pragma once

#include <string>
#include <vector>

#include <unistd.h>

namespace tidemill::internal {

/// Owns an open file.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int number() const { return number_; }

  private:
    int number_;
};

/// The CPUs that a file of the kernel lists, "0,36" or "0-1"; throws PlatformError naming the file.
std::vector<int> read_cpus(const std::string& path);

}  // namespace tidemill::internal
