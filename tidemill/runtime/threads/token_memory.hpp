#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/graph/arena.hpp"

namespace tidemill {

/// Gives the memory of tokens to runs that want it to be of a kind: pages that a device reaches, say. What is
/// given back it may give again, so that what was done to it once serves the next schedule, too. One thread
/// at a time.
class TokenMemory {
  public:
    virtual ~TokenMemory() = default;
    TokenMemory() = default;
    TokenMemory(const TokenMemory&) = delete;
    TokenMemory& operator=(const TokenMemory&) = delete;

    /// For so many frames of so many bytes at least, one behind the other, aligned as an Arena is.
    virtual std::byte* take(std::size_t frames, std::size_t frame_bytes) = 0;
    /// An exception of it is dropped.
    virtual void give_back(std::byte* begin) = 0;
};

/// Zeroed bytes for frames, an aligned size apart, out of such memory, or of the program's own.
class TokenBytes {
  public:
    TokenBytes(std::size_t frames, std::size_t frame_bytes, const std::shared_ptr<TokenMemory>& from)
        : bytes_(frames * aligned(frame_bytes)) {
        if (!from) {
            own_.emplace(bytes_);
            return;
        }
        lent_ = {from->take(frames, aligned(frame_bytes)),
                 [from](std::byte* begin) { internal::thrown_by([&] { from->give_back(begin); }); }};
        std::memset(lent_.get(), 0, bytes_);
    }

    std::byte* data() const { return own_ ? own_->data() : lent_.get(); }
    std::size_t bytes() const { return bytes_; }

  private:
    std::size_t bytes_;
    std::optional<Arena> own_{};
    std::shared_ptr<std::byte> lent_{};
};

}  // namespace tidemill
