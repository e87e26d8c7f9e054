#include <fstream>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/command.hpp"
#include "tidemill/cli/dvbs2/ber_job.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::cli {

namespace {

void write_csv(const ResultTable& table, const std::string& path) {
    std::ofstream file(path);
    file << to_csv(table);
    file.close();
    if (!file) throw JobFailed(fmt::format("cannot write '{}': is there space, may we write?", path));
}

int run_ber(const BerOptions& options) {
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
        fmt::print("{}\n", to_json(table).dump(2));
    } else {
        fmt::print("{}", to_text(table));
    }
    return kDone;
}

void add_points(CLI::App& verb, BerOptions& options) {
    verb.add_option("--modcod", options.modcods,
                    "Modulation and code rate; may be repeated (default: all 28)");
    verb.add_option("--frame", options.frame, "normal or short")
        ->check(CLI::IsMember({"normal", "short"}))
        ->capture_default_str();
    auto* esn0 =
        verb.add_option("--esn0", options.esn0, "Es/N0 in dB: numbers like 1,2.5 or first:step:last");
    auto* ebn0 = verb.add_option("--ebn0", options.ebn0, "Eb/N0 in dB instead")->excludes(esn0);
    verb.add_option("--margin", options.margin,
                    "dB over the threshold of table 13 instead (default: 0.2, short frames 0.5)")
        ->excludes(esn0)
        ->excludes(ebn0);
    verb.add_option("--seed", options.seed, "Seed of data and noise")->capture_default_str();
}

void add_limits(CLI::App& verb, BerOptions& options) {
    verb.add_option("--frames", options.limits.frames, "Frames per point at most")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    verb.add_option("--errors", options.limits.frame_errors, "Wrong frames per point at most")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    verb.add_option("--iterations", options.iterations, "LDPC iterations at most, with ideal synchronisation")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    verb.add_option("--threads", options.threads, "Threads that count (default: one for each core)")
        ->check(CLI::Range(1, 1024));
    verb.add_option("--state", options.state, "File to go on from, kept up to date while counting");
}

void add_full_sync(CLI::App& verb, BerOptions& options) {
    dvbs2::FullSync& full = options.full_sync;
    verb.add_option("--sync", options.sync, "ideal, or full for the whole receiver")
        ->check(CLI::IsMember({"ideal", "full"}))
        ->capture_default_str();
    verb.add_flag("--pilots", options.pilots, "Send pilots (full)");
    verb.add_option("--cfo", full.frequency_cycles_per_symbol,
                    "Largest frequency offset over the symbol rate (full)")
        ->check(CLI::Range(0.0, 0.2))
        ->capture_default_str();
    verb.add_option("--drift", full.drift_cycles_per_symbol2,
                    "Largest drift of the frequency in cycles per symbol squared (full)")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    verb.add_option("--ppm", full.clock_offset_ppm, "Largest clock offset in ppm (full)")
        ->check(CLI::Range(0.0, 1000.0))
        ->capture_default_str();
    verb.add_option("--phase-noise", full.phase_noise_deg,
                    "Phase walk: standard deviation over 1000 symbols in degrees (full)")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    verb.add_option("--burst", full.frames_per_burst, "Frames from one acquisition to the next (full)")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

}  // namespace

void add_dvbs2_ber(CLI::App& dvbs2, Command& chosen) {
    auto options = std::make_shared<BerOptions>();
    CLI::App* verb = dvbs2.add_subcommand("ber", "Count frame and bit errors over a noisy channel");
    verb->footer(
        "Example: tidemill dvbs2 ber --modcod \"QPSK 8/9\" --frame short --ebn0 3.5:0.1:4 --frames 10000");
    under_heading(*verb, "What is counted", [&] { add_points(*verb, *options); });
    under_heading(*verb, "How long", [&] { add_limits(*verb, *options); });
    under_heading(*verb, "The receiver and its channel", [&] { add_full_sync(*verb, *options); });
    verb->add_option("--csv", options->csv, "File for the table as CSV");
    verb->add_flag("--json", options->json, "One JSON object on standard output");
    verb->callback([options, &chosen] { chosen = [options] { return run_ber(*options); }; });
}

}  // namespace tidemill::cli
