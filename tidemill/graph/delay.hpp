#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/graph/graph_error.hpp"
#include "tidemill/graph/module.hpp"

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
                   std::vector<T> initial = {})
        : Module(std::move(name)),
          delayed(out<T>("delayed", count)),
          read_(task("read", &Delay::read)),
          now(in<T>("now", count)),
          write_(task("write", &Delay::write)),
          held_(std::move(initial)) {
        if (frames == 0)
            throw GraphError(fmt::format("delay '{}' is of 0 frames: give 1 or more", this->name()));
        let_recall(read_);
        if (held_.empty()) held_.resize(frames * count);
        initial_ = held_;
        if (held_.size() == frames * count) return;
        throw GraphError(fmt::format("delay '{}' of {} frames x {} begins with {} elements: give {}, or none",
                                     this->name(), frames, count, held_.size(), frames * count));
    }

    void reset() override {
        held_ = initial_;
        at_ = 0;
    }

    void keep(Archive& archive) override {
        archive.expect("size", held_.size())("held", held_)("at", at_);
        const bool fits = held_.size() == initial_.size() && at_ >= 0 && at_ < std::ssize(held_);
        if (!fits) throw GraphError(fmt::format("delay '{}' does not hold what was kept", name()));
    }

    Out<T> delayed;  ///< what `now` was

  private:
    Task read_;

  public:
    In<T> now;

  private:
    Task write_;

    void read(Frame f) { std::copy_n(held_.begin() + at_, f[delayed].size(), f[delayed].begin()); }

    void write(Frame f) {
        std::copy(f[now].begin(), f[now].end(), held_.begin() + at_);
        at_ += static_cast<std::ptrdiff_t>(f[now].size());
        if (at_ == std::ssize(held_)) at_ = 0;
    }

    std::vector<T> initial_;
    std::vector<T> held_;  // a ring of frames; at_ is the oldest
    std::ptrdiff_t at_ = 0;
};

}  // namespace tidemill
