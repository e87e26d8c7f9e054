#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

// Gives one line of text per frame, as long as it is.
struct Lines : Module {
    explicit Lines(std::string text) : left_(std::move(text)) {}

    OutUpTo<char> line = out<char>("line", upto(80));
    Task next = task("next", &Lines::give);

  private:
    Flow give(Frame f) {
        if (left_.empty()) return Flow::stop;
        const std::size_t length = left_.find('\n');
        std::copy_n(left_.begin(), length, f[line].resize(length).begin());
        left_.erase(0, length + 1);
        return Flow::ok;
    }

    std::string left_;
};

int main() {
    Graph g;
    auto& lines = g.add<Lines>("a stream of lines\n\nis a stream of frames\n");
    auto& words = g.add(task("words", in<char>("text", upto(80)), out<int>("lengths", upto(40)),
                             [](std::span<const char> text, Elements<int> lengths) {
                                 std::string_view left(text.data(), text.size());
                                 while (!left.empty()) {
                                     const std::size_t length = std::min(left.find(' '), left.size());
                                     lengths.push_back(static_cast<int>(length));
                                     left.remove_prefix(std::min(length + 1, left.size()));
                                 }
                             }));
    auto& print = g.add(task("print", in<int>("lengths", upto(40)), [](std::span<const int> lengths) {
        fmt::print("{} words:", lengths.size());
        for (const int length : lengths) fmt::print(" {}", length);
        fmt::print("\n");
    }));
    g.chain(lines, words, print);
    Pipeline(g, thread_per_task(g)).run();

    auto& fixed = g.add(task("fixed", in<int>("x", 40), [](auto) {}));
    try {
        g.bind(words["lengths"], fixed["x"]);
    } catch (const GraphError& error) {
        fmt::print("{}\n", error.what());
    }
}
