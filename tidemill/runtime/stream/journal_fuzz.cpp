#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/identity.hpp"
#include "tidemill/runtime/graph/knob_layout.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/stream/journaled_run.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace {

using namespace tidemill;

struct Amp : Module {
    Knob<float> gain = knob("gain", 1.0f, Range{0, 100});
    Knob<std::vector<std::int8_t>> taps = knob("taps", std::vector<std::int8_t>(2));
    Out<float> y = out<float>("y");
    Task run = task("run", &Amp::make);
    void make(Frame f) { f[y][0] = f[gain]; }
};

}  // namespace

/// Any text is a journal or a RunError. What is a journal can be replayed, or a value of it is refused; every
/// value that is taken is in the range of its knob.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Graph graph;
    static const Amp& amp = graph.add<Amp>();
    static const KnobLayout layout = knob_layout_of(graph);
    std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
    try {
        JournalRecord record = parse_journal(text, "fuzz.jsonl");
        record.graph = identity_of(graph);
        for (const KnobSettings& each : settings_of(record, graph, layout)) {
            for (const KnobSetting& setting : each.settings)
                check_knob(amp, setting.knob.index, setting.bytes);
        }
    } catch (const RunError&) {
    } catch (const GraphError&) {
    }
    return 0;
}
