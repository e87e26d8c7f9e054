#include "tidemill/io/files/internal/zstd_file.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/machine/shared_library.hpp"

namespace tidemill::io::internal {

namespace {

// The part of libzstd's interface that is used, as its versions 1 have it.
struct ZstdInput {
    const void* bytes;
    std::size_t size, used;
};
struct ZstdOutput {
    void* bytes;
    std::size_t size, made;
};
struct ZstdApi {
    void* (*make)() = nullptr;
    std::size_t (*free)(void*) = nullptr;
    std::size_t (*reset)(void*) = nullptr;
    std::size_t (*decompress)(void*, ZstdOutput*, ZstdInput*) = nullptr;
    unsigned (*is_error)(std::size_t) = nullptr;
    const char* (*error_name)(std::size_t) = nullptr;
};

constexpr const char* kZstdLibrary = "libzstd.so.1";

ZstdApi load_zstd() {
    std::string why;
    const auto library = SharedLibrary<IoError>::open(kZstdLibrary, why);
    if (!library)
        throw IoError(fmt::format(
            "compressed recordings need zstd's library: install libzstd1, or unpack them by zstd -d ({})",
            why));
    ZstdApi api;
    library->find("ZSTD_createDStream", api.make);
    library->find("ZSTD_freeDStream", api.free);
    library->find("ZSTD_initDStream", api.reset);
    library->find("ZSTD_decompressStream", api.decompress);
    library->find("ZSTD_isError", api.is_error);
    library->find("ZSTD_getErrorName", api.error_name);
    return api;
}

const ZstdApi& installed_zstd() {
    static const ZstdApi api = load_zstd();
    return api;
}

constexpr std::size_t kCompressedBytes = 1 << 17;

}  // namespace

struct ZstdFile::Stream {
    const ZstdApi& api = installed_zstd();
    void* state = api.make();

    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { api.free(state); }
};

ZstdFile::ZstdFile(const std::filesystem::path& path)
    : file_(File::open_regular(path)), stream_(std::make_unique<Stream>()) {
    begin_anew();
}

ZstdFile::~ZstdFile() = default;

void ZstdFile::begin_anew() {
    stream_->api.reset(stream_->state);
    compressed_.clear();
    used_ = 0;
    file_at_ = 0;
    is_inside_frame_ = false;
}

std::size_t ZstdFile::read(std::span<std::byte> to) {
    ZstdOutput output{to.data(), to.size(), 0};
    while (output.made < output.size) {
        if (used_ == compressed_.size()) {
            compressed_.resize(kCompressedBytes);
            compressed_.resize(file_.read_at(compressed_, file_at_));
            file_at_ += compressed_.size();
            used_ = 0;
            if (compressed_.empty() && !is_inside_frame_) break;
        }
        const std::size_t before = output.made;
        ZstdInput input{compressed_.data(), compressed_.size(), used_};
        const std::size_t left = stream_->api.decompress(stream_->state, &output, &input);
        if (stream_->api.is_error(left))
            throw IoError(fmt::format("'{}' is no zstd file or is damaged: {}", file_.path().string(),
                                      stream_->api.error_name(left)));
        if (compressed_.empty() && output.made == before)  // nothing was left in the decoder either
            throw IoError(fmt::format("'{}' is cut off: zstd's data end too early", file_.path().string()));
        used_ = input.used;
        is_inside_frame_ = left != 0;
    }
    return output.made;
}

}  // namespace tidemill::io::internal
