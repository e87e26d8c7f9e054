#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tidemill::internal {

/// A function to be called once, kept in place where it is small. Stays where it was put.
class TaskBody {
  public:
    TaskBody() = default;
    TaskBody(const TaskBody&) = delete;
    TaskBody& operator=(const TaskBody&) = delete;
    ~TaskBody() { clear(); }

    template <class F>
    void put(F&& work) {
        using Work = std::decay_t<F>;
        clear();
        if constexpr (sizeof(Work) <= kInPlace && alignof(Work) <= alignof(std::max_align_t)) {
            put_in_place(std::forward<F>(work));
        } else {
            put_in_place([held = std::make_unique<Work>(std::forward<F>(work))] { (*held)(); });
        }
    }

    void call() { call_(bytes_); }

    void clear() {
        if (destroy_) destroy_(bytes_);
        destroy_ = nullptr;
        call_ = nullptr;
    }

  private:
    static constexpr std::size_t kInPlace = 48;

    template <class F>
    void put_in_place(F&& work) {
        using Work = std::decay_t<F>;
        new (bytes_) Work(std::forward<F>(work));
        call_ = [](std::byte* bytes) { (*std::launder(reinterpret_cast<Work*>(bytes)))(); };
        if constexpr (!std::is_trivially_destructible_v<Work>) {
            destroy_ = [](std::byte* bytes) {
                std::destroy_at(std::launder(reinterpret_cast<Work*>(bytes)));
            };
        }
    }

    alignas(std::max_align_t) std::byte bytes_[kInPlace];
    void (*call_)(std::byte*) = nullptr;
    void (*destroy_)(std::byte*) = nullptr;
};

}  // namespace tidemill::internal
