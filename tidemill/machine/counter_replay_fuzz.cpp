#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "tidemill/machine/internal/counter_sources.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace {

using namespace tidemill;

// Counts that were read are written, and read back the same.
void check_round_trip(Counters& counters, int tid) {
    std::string text = replay_header();
    const CounterReading reading = counters.of_thread(tid)->read();
    text += replay_lines(0, tid, reading);
    if (!reading.absent.empty()) return;
    std::istringstream again(text);
    if (internal::counter_replay(again, "again").counters->of_thread(tid)->read() != reading) std::abort();
}

}  // namespace

/// Any text is a replay or a PlatformError; what happened between two of its steps is at least 0, or absent.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
    try {
        const FoundCounters found = internal::counter_replay(text, "fuzz");
        const auto thread = found.counters->of_thread(7);
        const CounterReading first = thread->read();
        for (const CoreTypeCounts& counts : work_between(first, thread->read()).on)
            if (!(counts.ran_ns >= 0) || (counts.cycles && !(*counts.cycles >= 0))) std::abort();
        check_round_trip(*found.counters, 7);
    } catch (const PlatformError&) {
    }
    return 0;
}
