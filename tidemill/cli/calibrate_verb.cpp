#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/running/devices.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/machine/measured_kinds.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/static/cost_model_file.hpp"
#include "tidemill/tuning/profile/calibration.hpp"

namespace tidemill::cli {

namespace {

struct CalibrateOptions {
    std::string output;
    WaitMode waiting = WaitMode::mixed;
    std::string energy_meter = "auto";
    double seconds = 0.05;
    bool kinds = false;
    bool siblings = false;
    bool json = false;
};

std::string table_of(const Calibration& found) {
    std::string table = fmt::format("{:>12}  {:>12}  {}\n", "bytes", "hop us", "quartiles of the rounds");
    for (const HopMeasurement& hop : found.hops)
        table +=
            fmt::format("{:>12}  {:>12.3f}  {:.3f}, {:.3f}{}\n", hop.bytes, hop.cost_us,
                        hop.lower_quartile_us, hop.upper_quartile_us, hop.is_disturbed ? "; disturbed" : "");
    table += fmt::format("hop_us {}, byte_us {}\n", found.model.hop_us, found.model.byte_us);
    for (const KindCosts& kind : found.model.kinds) {
        table += fmt::format("{}: slowdown", kind.kind);
        for (const double factor : kind.slowdown) table += fmt::format(" {:.2f}", factor);
        if (kind.shared_slowdown)
            table += fmt::format(", two threads of a core {:.2f}", *kind.shared_slowdown);
        if (kind.busy_w > 0) table += fmt::format(", {:.3f} W busy, {:.3f} W idle", kind.busy_w, kind.idle_w);
        table += "\n";
    }
    for (const FastestMemory& memory : found.model.memory)
        table += fmt::format("{}: up to {} KiB come and go fastest by {}\n", memory.device,
                             memory.bytes / 1024, memory.policy);
    for (const std::string& reason : found.not_measured) table += "not measured: " + reason + "\n";
    return table;
}

/// Kinds of cores by what was measured, and that in words.
struct KindsFound {
    MeasuredKinds kinds{};
    std::string words{};
};

std::string table_of(const Topology& topology, std::span<const MeasuredCore> measured) {
    CoreSpeed best;
    for (const MeasuredCore& core : measured) {
        best.compute = std::max(best.compute, core.best.compute);
        best.memory = std::max(best.memory, core.best.memory);
    }
    std::string table =
        fmt::format("{:>12}  {:>9}  {:>9}  {:>10}\n", "core", "computing", "memory", "repeats to");
    for (std::size_t core = 0; core < measured.size(); ++core)
        table += fmt::format("{:>12}  {:>9.2f}  {:>9.2f}  {:>8.1f} %\n", topology.cores[core].number,
                             measured[core].best.compute / best.compute,
                             measured[core].best.memory / best.memory, 100 * measured[core].spread);
    return table;
}

KindsFound measure_kinds(const Topology& topology, double seconds) {
    constexpr int kRounds = 9;
    tell("speeds of {} cores ...\n", topology.cores.size());
    const auto measured = measure_cores(topology, core_probe(topology, seconds), kRounds);
    KindsFound found{kinds_by_speed(topology, measured), table_of(topology, measured)};
    found.words += fmt::format("core kinds {}\n", found.kinds.kinds);
    for (const std::string& why : found.kinds.because) found.words += fmt::format("  {}\n", why);
    return found;
}

int run_calibrate(const CalibrateOptions& options) {
    const FoundEnergyMeter energy = find_energy_meter(options.energy_meter);
    KindsFound found_kinds;
    if (options.kinds) found_kinds = measure_kinds(Topology::here(), options.seconds);
    const std::string& kinds = found_kinds.kinds.kinds;
    Calibration found =
        calibrate(Topology::here(kinds), {.waiting = options.waiting,
                                          .seconds = options.seconds,
                                          .siblings = options.siblings,
                                          .energy_meter = energy.meter.get(),
                                          .progress = [](std::string_view what) { tell("{} ...\n", what); }});
    if (found.is_disturbed)
        warn(
            "other programs disturbed the measurement: the model is without what they were in, and its watts "
            "are with what they drew; end them and calibrate again");
    if (!energy.meter) found.not_measured.back() = "busy_w, idle_w: " + energy.reason;
    devices().calibrate(found);
    if (!options.output.empty()) writing([&] { write_cost_model(found.model, options.output, kinds); });
    if (options.json)
        print("{}", to_json(found.model, kinds));
    else
        print("{}{}", found_kinds.words, table_of(found));
    return kDone;
}

}  // namespace

void add_calibrate(Verb& program) {
    auto options = std::make_shared<CalibrateOptions>();
    Verb& verb = program.verb("calibrate",
                              "Measure what this machine's cuts cost, how its cores slow each other down, "
                              "watts, and by which memory "
                              "devices get their frames fastest");
    verb.footer(
        "Example: tidemill calibrate -o model.json\n"
        "         tidemill schedule profile.json --model model.json\n"
        "         tidemill calibrate --kinds -o model.json && tidemill topo --kinds model.json");
    verb.option("-o,--output", options->output, "Write a model file").is(Kind::output_file);
    verb.choice("--waiting", options->waiting,
                {{"active", WaitMode::active}, {"passive", WaitMode::passive}, {"mixed", WaitMode::mixed}},
                "How the measured pipelines wait");
    verb.option("--seconds", options->seconds, "Of each measurement; each is made several times")
        .is(Kind::seconds)
        .in(between(0.001, 10.0));
    verb.option("--energy-meter", options->energy_meter,
                "auto, none, powercap, hwmon, file:PATH or command:TEXT");
    verb.flag("--kinds", options->kinds,
              "Measure the speed of each core first, and take the kinds from that");
    verb.flag("--siblings", options->siblings,
              "Measure, too, how much slower two threads of one core are; schedules may share cores then");
    verb.flag("--json", options->json, "The model as JSON on standard output");
    verb.does([options] { return run_calibrate(*options); });
}

}  // namespace tidemill::cli
