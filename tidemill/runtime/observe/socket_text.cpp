#include "tidemill/runtime/observe/socket_text.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

#include <fmt/format.h>

namespace tidemill {

namespace {

template <class T>
T loaded(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

std::string hexadecimal(const std::byte* at, std::size_t bytes) {
    std::string text = "0x";
    for (std::size_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", std::to_integer<unsigned>(at[i]));
    return text;
}

std::string element_text(const std::byte* at, const ElementType& type) {
    const std::type_index id = type.id;
    if (id == typeid(float)) return fmt::format("{:.6g}", loaded<float>(at));
    if (id == typeid(double)) return fmt::format("{:.9g}", loaded<double>(at));
    if (id == typeid(std::complex<float>)) {
        const auto value = loaded<std::complex<float>>(at);
        return fmt::format("({:.5g} {:.5g})", value.real(), value.imag());
    }
    if (id == typeid(std::int8_t)) return fmt::format("{}", static_cast<int>(loaded<std::int8_t>(at)));
    if (id == typeid(std::uint8_t)) return fmt::format("{}", static_cast<int>(loaded<std::uint8_t>(at)));
    if (id == typeid(std::int16_t)) return fmt::format("{}", loaded<std::int16_t>(at));
    if (id == typeid(std::uint16_t)) return fmt::format("{}", loaded<std::uint16_t>(at));
    if (id == typeid(std::int32_t)) return fmt::format("{}", loaded<std::int32_t>(at));
    if (id == typeid(std::uint32_t)) return fmt::format("{}", loaded<std::uint32_t>(at));
    if (id == typeid(std::int64_t)) return fmt::format("{}", loaded<std::int64_t>(at));
    if (id == typeid(std::uint64_t)) return fmt::format("{}", loaded<std::uint64_t>(at));
    constexpr std::size_t kMostBytes = 32;
    return hexadecimal(at, std::min(type.size, kMostBytes)) + (type.size > kMostBytes ? ".." : "");
}

}  // namespace

std::span<const std::byte> bytes_of(const Frame& frame, const Module& module, std::uint32_t socket) {
    const SocketInfo& info = module.sockets()[socket];
    const auto block = frame[In<std::byte>{&module, socket, static_cast<std::uint32_t>(info.bytes())}];
    return block.empty() ? block : internal::elements_of(info, block.data());
}

std::string text_of(std::span<const std::byte> bytes, const ElementType& type, std::size_t most) {
    const std::size_t count = bytes.size() / type.size;
    std::string text;
    for (std::size_t i = 0; i < std::min(count, most); ++i) {
        if (i > 0) text += ' ';
        text += element_text(bytes.data() + i * type.size, type);
    }
    if (count > most) text += most == 0 ? "..." : " ...";
    return text;
}

}  // namespace tidemill
