#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tidemill::io {

/// SHA-512 of a stream of bytes (FIPS 180-4), the digest by which SigMF metadata recognise their data. Made
/// by libcrypto (OpenSSL 1.1 or 3), which is looked for at run time: without it there is no digest.
class Sha512 {
  public:
    /// Throws IoError where libcrypto cannot begin one.
    Sha512();

    /// Whether libcrypto was found.
    static bool is_available();

    void update(std::span<const std::byte> bytes);

    /// The digest of all bytes so far as 128 lower-case hexadecimal digits; empty where there is none. Ends
    /// the computation.
    std::string finish();

  private:
    struct Free {
        void operator()(void* context) const;
    };
    std::unique_ptr<void, Free> context_;  // null: no libcrypto
};

}  // namespace tidemill::io
