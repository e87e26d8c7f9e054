#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill {

/// Hands every frame's data to a later frame: the only way in which a stream may depend on its own past.
///
/// `delayed` of frame k is `now` of frame k - frames; the first frames read the initial tokens. A circle that
/// leads through it is no cycle within a frame; its tasks are one unit, run in order. A frame that a task on
/// the circle skips puts nothing into the delay.
template <class T>
class Delay final : public Module {
  public:
    /// A delay of `frames` frames of `count` elements; `initial` holds frames * count elements, or none for
    /// zeros. Throws GraphError when it does not.
    explicit Delay(std::string name, std::size_t count = 1, std::size_t frames = 1,
                   const std::vector<T>& initial = {})
        : Module(std::move(name)),
          delayed(out<T>("delayed", count)),
          read_(task("read", &Delay::read)),
          now(in<T>("now", count)),
          write_(task("write", &Delay::write)),
          held_(initial.begin(), initial.end()) {
        if (frames == 0)
            throw GraphError(fmt::format("delay '{}' is of 0 frames: give 1 or more", this->name()));
        let_recall(read_, static_cast<std::uint32_t>(std::min<std::size_t>(frames, ~std::uint32_t{0})));
        if (held_.empty()) held_.resize(frames * count);
        initial_ = held_;
        if (held_.size() == frames * count) return;
        throw GraphError(fmt::format("delay '{}' of {} frames x {} begins with {} elements: give {}, or none",
                                     this->name(), frames, count, held_.size(), frames * count));
    }

    // Frames that were read ahead of the last run's end are read again.
    void begin(const Run& run) override {
        parted_ = run.parted;
        read_at_ = write_at_;
    }

    void reset() override {
        held_ = initial_;
        write_at_ = 0;
    }

    void keep(Archive& archive) override {
        archive.expect("size", held_.size())("held", held_)("at", write_at_);
        const bool fits = held_.size() == initial_.size() && write_at_ < held_.size();
        if (!fits) throw GraphError(fmt::format("delay '{}' does not hold what was kept", name()));
    }

    Out<T> delayed;  ///< what `now` was

  private:
    Task read_;

  public:
    In<T> now;

  private:
    Task write_;

    // Bits of a vector<bool> lie in one word, which two threads would change.
    using Held = std::conditional_t<std::is_same_v<T, bool>, char, T>;

    // In one unit, the frame is read on which the other task may be skipped.
    void read(Frame f) {
        const std::size_t place = parted_ ? read_at_ : write_at_;
        std::copy_n(held_.begin() + at(place), f[delayed].size(), f[delayed].begin());
        read_at_ = behind(place);
    }

    void write(Frame f) {
        std::copy(f[now].begin(), f[now].end(), held_.begin() + at(write_at_));
        write_at_ = behind(write_at_);
    }

    static std::ptrdiff_t at(std::size_t place) { return static_cast<std::ptrdiff_t>(place); }
    std::size_t behind(std::size_t place) const {
        return place + now.count == held_.size() ? 0 : place + now.count;
    }

    std::vector<Held> initial_;
    std::vector<Held> held_;  // a ring of frames
    bool parted_ = false;
    alignas(64) std::size_t read_at_ = 0;  // the two tasks may be on two threads
    alignas(64) std::size_t write_at_ = 0;
};

}  // namespace tidemill
