#include <memory>

#include <fmt/format.h>

#include "tidemill/cli/output.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/run/profile/calibration.hpp"
#include "tidemill/schedule/cost_model_file.hpp"

namespace tidemill::cli {

namespace {

struct CalibrateOptions {
    std::string output;
    WaitMode waiting = WaitMode::mixed;
    std::string energy_meter = "auto";
    double seconds = 0.05;
    bool json = false;
};

std::string table_of(const Calibration& found) {
    std::string table = fmt::format("{:>12}  {:>12}\n", "bytes", "hop us");
    for (const auto& [bytes, cost_us] : found.hops)
        table += fmt::format("{:>12}  {:>12.3f}\n", bytes, cost_us);
    table += fmt::format("hop_us {}, byte_us {}\n", found.model.hop_us, found.model.byte_us);
    for (const KindCosts& kind : found.model.kinds) {
        table += fmt::format("{}: slowdown", kind.kind);
        for (const double factor : kind.slowdown) table += fmt::format(" {:.2f}", factor);
        if (kind.busy_w > 0) table += fmt::format(", {:.3f} W busy, {:.3f} W idle", kind.busy_w, kind.idle_w);
        table += "\n";
    }
    for (const std::string& reason : found.not_measured) table += "not measured: " + reason + "\n";
    return table;
}

int run_calibrate(const CalibrateOptions& options) {
    const FoundEnergyMeter energy = find_energy_meter(options.energy_meter);
    Calibration found =
        calibrate(Topology::here(), {.waiting = options.waiting,
                                     .seconds = options.seconds,
                                     .energy_meter = energy.meter.get(),
                                     .progress = [](std::string_view what) { tell("{} ...\n", what); }});
    if (!energy.meter) found.not_measured.back() = "busy_w, idle_w: " + energy.reason;
    if (!options.output.empty()) writing([&] { write_cost_model(found.model, options.output); });
    print("{}", options.json ? to_json(found.model) : table_of(found));
    return kDone;
}

}  // namespace

void add_calibrate(Verb& program) {
    auto options = std::make_shared<CalibrateOptions>();
    Verb& verb = program.verb(
        "calibrate", "Measure what this machine's cuts cost, how its cores slow each other down, and watts");
    verb.footer(
        "Example: tidemill calibrate -o model.json\n"
        "         tidemill schedule profile.json --model model.json");
    verb.option("-o,--output", options->output, "Write a model file").is(Kind::output_file);
    verb.choice("--waiting", options->waiting,
                {{"active", WaitMode::active}, {"passive", WaitMode::passive}, {"mixed", WaitMode::mixed}},
                "How the measured pipelines wait");
    verb.option("--seconds", options->seconds, "Of each measurement; each is made several times")
        .is(Kind::seconds)
        .in(between(0.001, 10.0));
    verb.option("--energy-meter", options->energy_meter,
                "auto, none, powercap, perf, battery, hwmon, file:PATH or command:TEXT");
    verb.flag("--json", options->json, "The model as JSON on standard output");
    verb.does([options] { return run_calibrate(*options); });
}

}  // namespace tidemill::cli
