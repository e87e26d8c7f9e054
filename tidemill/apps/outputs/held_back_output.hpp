#pragma once

#include <array>
#include <string>

namespace tidemill::cli {

/// Holds back what other libraries write to standard output and error as long as it lives.
class HeldBackOutput {
  public:
    /// Without a file for it in the system, all is written as ever.
    HeldBackOutput();
    HeldBackOutput(const HeldBackOutput&) = delete;
    HeldBackOutput& operator=(const HeldBackOutput&) = delete;
    ~HeldBackOutput() { end(); }

    /// Gives the streams back; returns the last 64 KiB that were written.
    std::string end();

  private:
    int file_ = -1;
    std::array<int, 2> streams_{-1, -1};  // as they were
};

}  // namespace tidemill::cli
