#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace tidemill {

/// Every socket's bytes start on a cache line, which is also the widest vector.
inline constexpr std::size_t kAlignment = 64;

constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// A block of zeroed, aligned memory.
class Arena {
  public:
    Arena() = default;
    explicit Arena(std::size_t bytes)
        : bytes_(aligned(bytes)), data_(new (std::align_val_t{kAlignment}) std::byte[bytes_]) {
        std::memset(data_.get(), 0, bytes_);
    }

    std::byte* data() const { return data_.get(); }
    std::size_t bytes() const { return bytes_; }

  private:
    struct Free {
        void operator()(std::byte* data) const { operator delete[](data, std::align_val_t{kAlignment}); }
    };

    std::size_t bytes_ = 0;
    std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace tidemill
