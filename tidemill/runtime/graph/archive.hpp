#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tidemill {

/// State of a module in a checkpoint, field by field, each under a name. The same function keeps and gives
/// back, so the two cannot drift apart:
///
///     void keep(tidemill::Archive& archive) override { archive("sum", sum_)("taps", taps_); }
///
/// A field is of plain bytes (a number, a structure of numbers; nothing that points anywhere), a string, a
/// vector, deque or optional of fields, or an object with a keep() of its own, which may be a template over
/// the archive so that it need not know this one. Bytes are kept as this processor has them.
class Archive {
  public:
    /// Keeps.
    Archive() = default;
    /// Gives back what was kept, which must outlive this.
    explicit Archive(std::span<const std::byte> kept) : kept_(kept), gives_back_(true) {}

    /// Keeps a field, or gives it back; throws GraphError where what was kept has another name or size.
    template <class T>
    Archive& operator()(std::string_view name, T& field) {
        static_assert(!std::is_pointer_v<T>, "what it points to is not kept: keep that");
        if constexpr (requires { field.keep(*this); }) {
            const Part part(*this, name);
            field.keep(*this);
        } else if constexpr (std::is_same_v<T, bool>) {
            auto truth = static_cast<std::uint8_t>(field);
            expect_count(name, head(name, 1, 1), 1);
            bytes(&truth, 1);
            field = truth != 0;
        } else if constexpr (std::is_trivially_copyable_v<T>) {
            expect_count(name, head(name, sizeof(T), 1), 1);
            bytes(&field, sizeof(T));
        } else {
            sequence(name, field);
        }
        return *this;
    }

    /// Something that must be as it was when the checkpoint was taken; throws GraphError where it is not.
    template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T> Archive& expect(std::string_view name, T value) {
        T kept = value;
        (*this)(name, kept);
        if (kept != value) refuse_change(name, static_cast<double>(value), static_cast<double>(kept));
        return *this;
    }

    /// Whether fields are given back.
    bool gives_back() const { return gives_back_; }

    /// All that was kept.
    const std::vector<std::byte>& bytes() const { return bytes_; }
    /// Throws GraphError where more was kept than has been given back.
    void check_whole() const;

  private:
    /// While it lives, the names of fields begin with its own.
    class Part {
      public:
        Part(Archive& archive, std::string_view name) : archive_(archive), outer_(archive.prefix_.size()) {
            archive_.prefix_.append(name).append(".");
        }
        ~Part() { archive_.prefix_.resize(outer_); }
        Part(const Part&) = delete;
        Part& operator=(const Part&) = delete;

      private:
        Archive& archive_;
        std::size_t outer_;
    };

    template <class T, class Allocator>
    void sequence(std::string_view name, std::vector<T, Allocator>& field) {
        elements<T>(name, field);
    }
    void sequence(std::string_view name, std::vector<bool>& field) {
        std::vector<char> truths(field.begin(), field.end());
        elements<char>(name, truths);
        if (gives_back_) field.assign(truths.begin(), truths.end());
    }
    template <class T>
    void sequence(std::string_view name, std::deque<T>& field) {
        elements<T>(name, field);
    }
    void sequence(std::string_view name, std::string& field) { elements<char>(name, field); }
    template <class T>
    void sequence(std::string_view name, std::optional<T>& field) {
        bool has = field.has_value();
        const Part part(*this, name);
        (*this)("has", has);
        if (!has) field.reset();
        if (has && !field) field.emplace();
        if (has) (*this)("value", *field);
    }

    template <class T, class Sequence>
    void elements(std::string_view name, Sequence& field) {
        constexpr bool kIsPlain = std::is_trivially_copyable_v<T>;
        const std::uint64_t count = head(name, kIsPlain ? sizeof(T) : 0, field.size());
        if (gives_back_) field.resize(count);
        if constexpr (kIsPlain && requires { field.data(); }) {
            bytes(field.data(), field.size() * sizeof(T));
        } else if constexpr (kIsPlain) {
            for (T& each : field) bytes(&each, sizeof(T));
        } else {
            const Part part(*this, name);
            for (T& each : field) (*this)("", each);
        }
    }

    /// Writes or reads the head of a field's bytes; gives the number of its elements.
    std::uint64_t head(std::string_view name, std::size_t element_bytes, std::uint64_t count);
    void expect_count(std::string_view name, std::uint64_t count, std::uint64_t wanted) const;
    [[noreturn]] void refuse_change(std::string_view name, double value, double kept) const;
    void bytes(void* field, std::size_t size);

    std::vector<std::byte> bytes_{};
    std::span<const std::byte> kept_{};
    bool gives_back_ = false;
    std::string prefix_{};
};

}  // namespace tidemill
