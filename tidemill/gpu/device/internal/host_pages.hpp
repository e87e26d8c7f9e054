#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace tidemill::device {

/// Memory of the host that begins with a page and fills whole ones, all of them touched: otherwise drivers
/// copy what they could map.
class HostPages {
  public:
    static constexpr std::align_val_t kPage{4096};

    explicit HostPages(std::size_t bytes)
        : bytes_((bytes + 4095) / 4096 * 4096),
          begin_(static_cast<std::byte*>(::operator new(bytes_, kPage))) {
        std::memset(begin_.get(), 0, bytes_);
    }

    std::byte* data() const { return begin_.get(); }
    std::size_t bytes() const { return bytes_; }

    /// To a device that may write there at any time.
    void leave() { static_cast<void>(begin_.release()); }

  private:
    struct Delete {
        void operator()(std::byte* begin) const { ::operator delete(begin, kPage); }
    };

    std::size_t bytes_;
    std::unique_ptr<std::byte, Delete> begin_;
};

}  // namespace tidemill::device
