#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>

namespace tidemill {

/// The type of the elements that a socket carries.
struct ElementType {
    std::type_index id;
    std::string name;
    std::size_t size;

    bool operator==(const ElementType& other) const { return id == other.id; }
};

namespace internal {

/// False, for static_asserts in what is only chosen where nothing else fits.
template <class...>
inline constexpr bool kNever = false;

/// The class of a member function pointer.
template <class Pointer>
struct MemberOf;
template <class M, class F>
struct MemberOf<F M::*> {
    using Class = M;
};

/// A C++ type's name as the compiler spells it, without namespaces.
std::string plain_type_name(const std::type_info& type);

/// True for types that point to data.
template <class T>
inline constexpr bool kRefersElsewhere = std::is_pointer_v<T>;
template <class T, std::size_t kExtent>
inline constexpr bool kRefersElsewhere<std::span<T, kExtent>> = true;
template <class T, class Traits>
inline constexpr bool kRefersElsewhere<std::basic_string_view<T, Traits>> = true;

}  // namespace internal

/// Describes T; sockets carry any trivially copyable type.
template <class T>
ElementType element_type() {
    // std::complex has a user-provided constructor, yet its bytes may be copied (its layout is fixed).
    constexpr bool is_complex =
        std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
    static_assert(std::is_trivially_copyable_v<T> || is_complex, "a socket's bytes are copied and recycled");
    static_assert(!internal::kRefersElsewhere<T>,
                  "a socket carries data: what a pointer or span refers to may be gone when it is read");
    static_assert(alignof(T) <= 64, "sockets are aligned to 64 bytes");
    const auto make = [](const char* name) { return ElementType{typeid(T), name, sizeof(T)}; };
    if constexpr (std::is_same_v<T, std::int8_t>) return make("int8");
    if constexpr (std::is_same_v<T, std::uint8_t>) return make("uint8");
    if constexpr (std::is_same_v<T, std::int16_t>) return make("int16");
    if constexpr (std::is_same_v<T, std::int32_t>) return make("int32");
    if constexpr (std::is_same_v<T, std::uint32_t>) return make("uint32");
    if constexpr (std::is_same_v<T, std::uint64_t>) return make("uint64");
    if constexpr (std::is_same_v<T, float>) return make("float32");
    if constexpr (std::is_same_v<T, double>) return make("float64");
    if constexpr (std::is_same_v<T, std::complex<float>>) return make("cf32");
    return {typeid(T), internal::plain_type_name(typeid(T)), sizeof(T)};
}

}  // namespace tidemill
