#include "tidemill/io/internal/crypto_sha512.hpp"

#include <string>

#include "tidemill/io/io_error.hpp"
#include "tidemill/platform/shared_library.hpp"

namespace tidemill::io::internal {

namespace {

// The part of libcrypto's interface that is used, as versions 1.1.0 to 3 have it.
struct CryptoApi {
    void* (*make_context)() = nullptr;
    void (*free_context)(void*) = nullptr;
    const void* (*sha512)() = nullptr;
    int (*begin)(void*, const void* digest, void* engine) = nullptr;
    int (*update)(void*, const void* bytes, std::size_t count) = nullptr;
    int (*finish)(void*, std::byte* digest, unsigned* bytes) = nullptr;

    bool is_whole() const { return make_context && free_context && sha512 && begin && update && finish; }
};

CryptoApi load_crypto() {
    CryptoApi api;
    std::string why;
    for (const char* const file : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
        const auto library = SharedLibrary<IoError>::open(file, why);
        if (!library) continue;
        library->find_optional("EVP_MD_CTX_new", api.make_context);
        library->find_optional("EVP_MD_CTX_free", api.free_context);
        library->find_optional("EVP_sha512", api.sha512);
        library->find_optional("EVP_DigestInit_ex", api.begin);
        library->find_optional("EVP_DigestUpdate", api.update);
        library->find_optional("EVP_DigestFinal_ex", api.finish);
        break;
    }
    return api;
}

const CryptoApi& installed_crypto() {
    static const CryptoApi api = load_crypto();
    return api;
}

void check(int is_done) {
    if (is_done != 1) throw IoError("libcrypto has failed to make a SHA-512");
}

}  // namespace

std::unique_ptr<CryptoSha512> CryptoSha512::make() {
    const CryptoApi& api = installed_crypto();
    void* const context = api.is_whole() ? api.make_context() : nullptr;
    if (context == nullptr) return nullptr;
    std::unique_ptr<CryptoSha512> made(new CryptoSha512(context));
    return api.begin(context, api.sha512(), nullptr) == 1 ? std::move(made) : nullptr;
}

CryptoSha512::~CryptoSha512() {
    installed_crypto().free_context(context_);
}

void CryptoSha512::update(std::span<const std::byte> bytes) {
    check(installed_crypto().update(context_, bytes.data(), bytes.size()));
}

std::array<std::byte, 64> CryptoSha512::finish() {
    std::array<std::byte, 64> digest{};
    check(installed_crypto().finish(context_, digest.data(), nullptr));
    return digest;
}

}  // namespace tidemill::io::internal
