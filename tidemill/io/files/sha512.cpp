#include "tidemill/io/files/sha512.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/machine/shared_library.hpp"

namespace tidemill::io {

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

void check_crypto(int is_done) {
    if (is_done != 1) throw IoError("libcrypto has failed to make a SHA-512");
}

}  // namespace

bool Sha512::is_available() {
    return installed_crypto().is_whole();
}

Sha512::Sha512() {
    if (!is_available()) return;
    context_.reset(installed_crypto().make_context());
    check_crypto(context_ ? installed_crypto().begin(context_.get(), installed_crypto().sha512(), nullptr)
                          : 0);
}

void Sha512::Free::operator()(void* context) const {
    installed_crypto().free_context(context);
}

void Sha512::update(std::span<const std::byte> bytes) {
    if (context_) check_crypto(installed_crypto().update(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha512::finish() {
    if (!context_) return {};
    std::array<unsigned char, 64> digest{};
    check_crypto(
        installed_crypto().finish(context_.get(), reinterpret_cast<std::byte*>(digest.data()), nullptr));
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace tidemill::io
