#include <memory>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/reception/reception_options.hpp"
#include "tidemill/apps/reception/reception_profile.hpp"
#include "tidemill/apps/running/devices.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/options/kinds_option.hpp"
#include "tidemill/options/profile_table.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/static/cost_model_file.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"

namespace tidemill::cli {

namespace {

struct Dvbs2ProfileOptions {
    ReceptionOptions reception;
    DeviceOptions device;
    CostModel model{};
    std::string output;
    std::string kinds;
    double seconds = 1.0;
    bool json = false;
};

int run_profile(const Dvbs2ProfileOptions& options) {
    const Topology topology = topology_by(options.kinds);
    const auto device = devices().open(options.device, options.model.memory);
    const ReceptionProfile found =
        profile_reception(prepare(options.reception), topology, {.seconds = options.seconds}, device.get());
    for (const std::string& warning : found.profile.warnings) warn(warning);
    if (found.info_bits_per_block == 0) {
        throw JobFailed(
            "nothing was received, so the later tasks have no weight: check with tidemill dvbs2 rx");
    }
    if (!options.output.empty()) writing([&] { write_profile(found.profile, options.output); });
    print("{}", options.json ? to_json(found.profile) : profile_table(found.profile));
    return kDone;
}

void add_profile_to(Verb& above, std::string summary) {
    auto options = std::make_shared<Dvbs2ProfileOptions>();
    Verb& verb = above.verb("profile", std::move(summary));
    verb.footer("Example: tidemill dvbs2 profile data/demo.sigmf-meta -o profile.json");
    add_reception_options(verb, options->reception);
    verb.option(
        "--device", options->device.device,
        "Decode LDPC frames on this device too, as tidemill topo names it, in batches: one more kind");
    verb.option("--memory", options->device.memory, "How frames come to the device and back")
        .needs("--device");
    verb.file("--model", options->model, read_cost_model,
              "Model file, as calibrate writes it: which --memory is fastest")
        .needs("--device");
    verb.option("-o,--output", options->output, "Write a profile file").is(Kind::output_file);
    verb.option("--seconds", options->seconds, "How long to profile each kind of core")
        .is(Kind::seconds)
        .in(between(0.01, 600.0));
    add_kinds_option(verb, options->kinds);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_profile(*options); });
}

}  // namespace

void add_dvbs2_profile(Verb& dvbs2) {
    add_profile_to(dvbs2,
                   "Profile the receiver's tasks on each kind of core, in microseconds per block of samples");
}

void add_profile(Verb& program) {
    add_profile_to(program, "Another name for dvbs2 profile");
}

}  // namespace tidemill::cli
