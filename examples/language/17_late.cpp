#include <atomic>
#include <chrono>
#include <sstream>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;
using namespace std::chrono_literals;

// A clock that ticks each millisecond, and a task that takes three.
struct Stream {
    Graph graph{};
    std::uint64_t sum = 0;

    explicit Stream(std::chrono::milliseconds work) {
        auto& clock = graph.add<Clock>(1ms);
        auto& slow = graph.add(task("slow", forward<std::uint64_t>("x"), [work](auto) {
            const auto end = std::chrono::steady_clock::now() + work;
            while (std::chrono::steady_clock::now() < end) {
            }
        }));
        auto& add = graph.add(task("add", in<std::uint64_t>("x"), [this](auto x) { sum = 31 * sum + x[0]; }));
        graph.chain(clock, slow, add);
    }
};

int main() {
    std::stringstream file;
    Stream live(3ms);
    Journal journal(file);
    const RunReport report =
        Pipeline(live.graph, thread_per_task(structure_of(live.graph)))
            .run({.frames = 200, .journal = &journal, .late = Late::drop_newest, .deadline = 2ms});
    fmt::print("begun {}, all of them delivered or dropped: {}\n", report.frames,
               report.delivered + report.dropped == report.frames);
    fmt::print("some were dropped: {}\n", report.dropped > 0);
    fmt::print("all that were delivered were late: {}\n", report.late == report.delivered);

    const JournalRecord record = parse_journal(file, "the journal");
    Stream again(0ms);
    Sequence(again.graph).run({.replay = &record});
    fmt::print("the same frames, in order: {}\n", again.sum == live.sum);
}
