#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tidemill::io {

/// SHA-512 of a stream of bytes (FIPS 180-4), the digest by which SigMF metadata recognises its data.
class Sha512 {
  public:
    Sha512();
    void update(std::span<const std::byte> bytes);

    /// The digest of all bytes so far as 128 lower-case hexadecimal digits; ends the computation.
    std::string finish();

  private:
    void compress(const std::byte* block);

    std::array<std::uint64_t, 8> state_;
    std::array<std::byte, 128> pending_{};
    std::size_t pending_bytes_ = 0;
    std::uint64_t total_bytes_ = 0;
};

}  // namespace tidemill::io
