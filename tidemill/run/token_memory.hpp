#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include "tidemill/graph/arena.hpp"

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

    /// So many bytes at least, aligned as an Arena is.
    virtual std::byte* take(std::size_t bytes) = 0;
    virtual void give_back(std::byte* begin) = 0;
};

/// A block of zeroed bytes out of such memory, or of the program's own.
class TokenBytes {
  public:
    TokenBytes(std::size_t bytes, const std::shared_ptr<TokenMemory>& from) : bytes_(aligned(bytes)) {
        if (!from) {
            own_.emplace(bytes);
            return;
        }
        lent_ = {from->take(bytes_), [from](std::byte* begin) { from->give_back(begin); }};
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
