#include <cmath>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "tidemill/apps/ber/ber_job.hpp"
#include "tidemill/apps/running/insight.hpp"
#include "tidemill/apps/transmission/channel_limits.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/cli/dvbs2/echo_option.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/dsp/instruction_set.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/options/number_list.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

void write_csv(const ResultTable& table, const std::string& path) {
    std::ofstream file(path);
    file << to_csv(table);
    file.close();
    if (!file) throw JobFailed(fmt::format("cannot write '{}': is there space, may we write?", path));
}

int run_ber(const BerOptions& options) {
    check_writable(options.csv);  // before hours are spent
    const auto results = [&] {
        try {
            return count_errors(options);
        } catch (const dvbs2::Dvbs2Error& error) {
            throw WrongUsage(error.what());
        }
    }();
    const ResultTable table = ber_table(options, results);
    if (!options.csv.empty()) write_csv(table, options.csv);
    if (options.json) {
        print("{}\n", to_text(to_json(table), 2));
    } else {
        print("{}", to_text(table));
    }
    return kDone;
}

// Beyond that a ratio is no signal's, and its number no longer one for people.
std::vector<double> decibels(std::vector<double> all, const char* option) {
    constexpr double kMost = 200;
    for (const double each : all) {
        if (std::abs(each) > kMost)
            throw WrongUsage(fmt::format("{}: give -{} to {} dB", option, kMost, kMost));
    }
    return all;
}

void add_points(Verb& verb, BerOptions& options) {
    verb.parsed("--modcod", options.modcods, modcod_number_of, "Modulation and code rate").shows("all 28");
    verb.choice("--frame", options.frame, frame_size_words(), "Size of the FECFRAMEs");
    const auto numbers_of = [](const char* option) {
        return [option](const std::string& text) { return decibels(number_list(text, option), option); };
    };
    verb.parsed("--esn0", options.esn0_db, numbers_of("--esn0"),
                "Es/N0 in dB: numbers like 1,2.5 or first:step:last");
    verb.parsed("--ebn0", options.ebn0_db, numbers_of("--ebn0"), "Eb/N0 in dB instead").excludes("--esn0");
    verb.parsed("--margin", options.margin_db, numbers_of("--margin"),
                "dB over the threshold of table 13 instead")
        .shows("0.2, short frames 0.5")
        .excludes("--esn0")
        .excludes("--ebn0");
    verb.option("--seed", options.seed, "Seed of data and noise");
}

void add_limits(Verb& verb, BerOptions& options) {
    verb.option("--first-frame", options.first_frame,
                "Number of each point's first frame: parts of a count add up to the whole")
        .in(between(0, 1e12));
    verb.option("--frames", options.limits.frames,
                "Frames per point at most; with --sync full in whole bursts")
        .in(at_least(1));
    verb.option("--errors", options.limits.frame_errors, "Wrong frames per point at most").in(at_least(1));
    verb.option("--iterations", options.iterations, "LDPC iterations at most, with ideal synchronisation")
        .in(between(1, 1000));
    verb.flag(
        "--sum-product", options.sum_product,
        "Count the same frames by floating-point sum-product of 50 iterations, too, and print the capacity");
    verb.option("--threads", options.threads, "Threads that count")
        .in(between(1, 1024))
        .shows("one for each core");
    verb.parsed("--target", options.target, dsp::instruction_set_of,
                "Instruction set of all kernels, like AVX2: others round otherwise")
        .shows("the best of this processor");
    verb.option("--state", options.state, "File to go on from, kept up to date while counting")
        .is(Kind::output_file);
}

void add_full_sync(Verb& verb, BerOptions& options) {
    dvbs2::FullSync& full = options.full_sync;
    verb.choice("--sync", options.is_full, {{"ideal", false}, {"full", true}},
                "Ideal, or full for the whole receiver");
    verb.flag("--pilots", options.pilots, "Send pilots (full)").needs("--sync");
    verb.option("--cfo", full.frequency_cycles_per_symbol,
                "Largest frequency offset over the symbol rate (full)")
        .in(between(0.0, 0.2))
        .needs("--sync");
    verb.option("--drift", full.drift_cycles_per_symbol2,
                "Largest drift of the frequency in cycles per symbol squared (full)")
        .in(between(0, range_of("drift_cycles_per_symbol2").most))
        .needs("--sync");
    verb.option("--ppm", full.clock_offset_ppm, "Largest clock offset in ppm (full)")
        .in(between(0.0, 1000.0))
        .needs("--sync");
    verb.option("--phase-noise", full.phase_noise_deg,
                "Phase walk: standard deviation over 1000 symbols in degrees (full)")
        .in(range_of("phase_noise_deg"))
        .needs("--sync");
    verb.parsed(
            "--echo", full.echoes, echo_of,
            "SYMBOLS,DB or SYMBOLS,DB,DEGREES: so late, over the direct way, to which Es/N0 refers (full)")
        .needs("--sync");
    verb.option("--burst", full.frames_per_burst, "Frames from one acquisition to the next (full)")
        .in(between(1, 1000))
        .needs("--sync");
}

}  // namespace

void add_dvbs2_ber(Verb& dvbs2) {
    auto options = std::make_shared<BerOptions>();
    Verb& verb = dvbs2.verb("ber", "Count frame and bit errors over a noisy channel");
    verb.footer(
        "Example: tidemill dvbs2 ber --modcod \"QPSK 8/9\" --frame short --ebn0 3.5:0.1:4 --frames 10000");
    verb.heading("What is counted");
    add_points(verb, *options);
    verb.heading("How long");
    add_limits(verb, *options);
    verb.heading("The receiver and its channel");
    add_full_sync(verb, *options);
    verb.heading("Results");
    verb.option("--csv", options->csv, "File for the table as CSV").is(Kind::output_file);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_ber(*options); });
}

}  // namespace tidemill::cli
