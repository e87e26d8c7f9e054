#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill {

/// Puts the end of the data before in front of each frame's new data, so that a filter sees across borders.
template <class T>
class Window final : public Module {
  public:
    /// Passes `count` new elements on behind the last `overlap` ones; before the first frame these are
    /// `initial`, or zeros when it is empty. Throws GraphError when it holds another number of elements.
    Window(std::string name, std::size_t count, std::size_t overlap, std::vector<T> initial = {})
        : Module(std::move(name)),
          fresh(in<T>("fresh", count)),
          window(out<T>("window", overlap + count)),
          slide_(task("slide", &Window::slide)),
          kept_(std::move(initial)) {
        if (kept_.empty()) kept_.resize(overlap);
        initial_ = kept_;
        let_overlap(window, overlap);
        if (kept_.size() == overlap) return;
        throw GraphError(
            fmt::format("window '{}' overlaps by {} elements, but begins with {}: give {}, or none",
                        this->name(), overlap, kept_.size(), overlap));
    }

    void reset() override { kept_ = initial_; }

    void keep(Archive& archive) override {
        archive.expect("size", kept_.size())("kept", kept_);
        if (kept_.size() != initial_.size())
            throw GraphError(fmt::format("window '{}' does not hold what was kept", name()));
    }

    In<T> fresh;
    Out<T> window;

  private:
    Task slide_;

    void slide(Frame f) {
        const auto all = f[window];
        std::copy(kept_.begin(), kept_.end(), all.begin());
        std::copy(f[fresh].begin(), f[fresh].end(), all.begin() + std::ssize(kept_));
        std::copy(all.end() - std::ssize(kept_), all.end(), kept_.begin());
    }

    std::vector<T> initial_;
    std::vector<T> kept_;
};

/// Binds `output` to an input that peeks: it takes as many new elements as `output` gives, and sees as many
/// older ones before them as it has room for. The older ones start as `initial`, or zeros. The copy is a task
/// of its own in front of the reader, which may be replicated. Throws GraphError when the input has less room
/// than the output gives.
template <class T, Direction kDirection, class Given, class Taken>
Window<T>& peek(Graph& graph, const TypedSocket<T, kDirection, Given>& output,
                const TypedSocket<T, Direction::in, Taken>& input,
                std::vector<std::type_identity_t<T>> initial = {}) {
    static_assert(std::is_same_v<Given, std::size_t> && std::is_same_v<Taken, std::size_t>,
                  "what peeks sees as many elements as it declares: no any, no upto() on either side");
    const std::string name = input.module->path_of_socket(input.index);
    if (input.count < output.count) {
        throw GraphError(fmt::format("{} has room for {} elements, {} gives {}: make it larger", name,
                                     input.count, output.module->path_of_socket(output.index), output.count));
    }
    auto& window =
        graph.add<Window<T>>(name + "_window", output.count, input.count - output.count, std::move(initial));
    graph.bind(output, window.fresh);
    graph.bind(window.window, input);
    return window;
}

}  // namespace tidemill
