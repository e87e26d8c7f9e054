#include <memory>

#include "tidemill/cli/dvbs2/reception_options.hpp"
#include "tidemill/cli/dvbs2/scan_text.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/cli/verbs.hpp"

namespace tidemill::cli {

namespace {

struct Options {
    ReceptionOptions reception;
    bool json = false;
};

int run_scan(const Options& options) {
    const ReceptionJob job = prepare_band(options.reception);
    if (job.interrupted && job.beginning.empty()) throw JobFailed("interrupted before samples came");
    for (const std::string& warning : job.warnings) warn(warning);
    ScannedBand band = scan_band(
        job, [](std::size_t done, std::size_t all) { tell("listened to {} of {} carriers\n", done, all); });
    if (job.stream && !job.stream->remarks().empty()) warn(job.stream->remarks());
    band.recording = options.reception.recording;
    band.how_to_read = reading_options(options.reception);
    print("{}", options.json ? scan_json(band) : scan_text(band));
    return band.carriers.empty() ? kJobFailed : kDone;
}

}  // namespace

void add_dvbs2_scan(Verb& dvbs2) {
    auto options = std::make_shared<Options>();
    Verb& verb = dvbs2.verb("scan", "Tell which carriers a recording holds, and what they are");
    verb.footer("Example: tidemill dvbs2 scan pass.sigmf-meta");
    add_recording_options(verb, options->reception);
    verb.flag("--json", options->json, "One JSON object on standard output");
    add_radio_options(verb, options->reception.radio);
    verb.does([options] { return run_scan(*options); });
}

}  // namespace tidemill::cli
