#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tidemill::io {

namespace internal {
class CryptoSha512;
}

/// SHA-512 of a stream of bytes (FIPS 180-4), the digest by which SigMF metadata recognises its data. By
/// libcrypto where there is one, which is two to three times as fast as our own code.
class Sha512 {
  public:
    enum class By { fastest, own };

    explicit Sha512(By by = By::fastest);
    Sha512(Sha512&&) noexcept;
    Sha512& operator=(Sha512&&) noexcept;
    ~Sha512();

    void update(std::span<const std::byte> bytes);

    /// The digest of all bytes so far as 128 lower-case hexadecimal digits; ends the computation.
    std::string finish();

  private:
    void compress(const std::byte* block);
    void finish_own();

    std::unique_ptr<internal::CryptoSha512> crypto_;  // null: what follows is used
    std::array<std::uint64_t, 8> state_;
    std::array<std::byte, 128> pending_{};
    std::size_t pending_bytes_ = 0;
    std::uint64_t total_bytes_ = 0;
};

}  // namespace tidemill::io
