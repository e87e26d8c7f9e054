#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace tidemill::io::internal {

/// SHA-512 by libcrypto, found where the program runs, so that none need be built with it.
class CryptoSha512 {
  public:
    /// Null where there is no libcrypto, or one that makes no such digests.
    static std::unique_ptr<CryptoSha512> make();
    ~CryptoSha512();
    CryptoSha512(const CryptoSha512&) = delete;
    CryptoSha512& operator=(const CryptoSha512&) = delete;

    /// Throws IoError where the library fails.
    void update(std::span<const std::byte> bytes);
    std::array<std::byte, 64> finish();

  private:
    explicit CryptoSha512(void* context) : context_(context) {}

    void* context_;
};

}  // namespace tidemill::io::internal
