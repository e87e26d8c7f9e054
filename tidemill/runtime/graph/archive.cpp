#include "tidemill/runtime/graph/archive.hpp"

#include <cstring>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph_error.hpp"

namespace tidemill {

namespace {

// Elements that take no bytes of their own are as many as a program could have made, not as a file says.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 24;

}  // namespace

void Archive::bytes(void* field, std::size_t size) {
    if (size == 0) return;
    if (!gives_back_) {
        const auto* begin = static_cast<const std::byte*>(field);
        bytes_.insert(bytes_.end(), begin, begin + size);
        return;
    }
    if (size > kept_.size()) throw GraphError(fmt::format("'{}' ends too early", prefix_));
    std::memcpy(field, kept_.data(), size);
    kept_ = kept_.subspan(size);
}

std::uint64_t Archive::head(std::string_view name, std::size_t element_bytes, std::uint64_t count) {
    const std::string full = prefix_ + std::string(name);
    std::uint32_t length = static_cast<std::uint32_t>(full.size());
    std::uint64_t width = element_bytes;
    bytes(&length, sizeof(length));
    if (length > kept_.size() && gives_back_) throw GraphError(fmt::format("'{}' ends too early", full));
    std::string found = gives_back_ ? std::string(length, '\0') : full;
    bytes(found.data(), found.size());
    bytes(&width, sizeof(width));
    bytes(&count, sizeof(count));
    if (found != full) throw GraphError(fmt::format("'{}' was kept where '{}' is wanted", found, full));
    if (width != element_bytes)
        throw GraphError(fmt::format("'{}' was of {} bytes, here it is of {}", full, width, element_bytes));
    if (gives_back_ && count > (width > 0 ? kept_.size() / width : kMostElements))
        throw GraphError(fmt::format("'{}' says {} elements, and has not as many", full, count));
    return count;
}

void Archive::expect_count(std::string_view name, std::uint64_t count, std::uint64_t wanted) const {
    if (count == wanted) return;
    throw GraphError(fmt::format("'{}{}' had {} elements, here it has {}", prefix_, name, count, wanted));
}

void Archive::refuse_change(std::string_view name, double value, double kept) const {
    throw GraphError(fmt::format("'{}{}' differs from the checkpoint ({}, was {}): use the original options",
                                 prefix_, name, value, kept));
}

void Archive::check_whole() const {
    if (!kept_.empty())
        throw GraphError(fmt::format("{} bytes more were kept than are wanted", kept_.size()));
}

}  // namespace tidemill
