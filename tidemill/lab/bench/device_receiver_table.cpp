#include "tidemill/lab/bench/device_receiver_table.hpp"

#include <vector>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/lab/bench/own_runs.hpp"
#include "tidemill/lab/bench/runs.hpp"

namespace tidemill::cli {

namespace {

/// Times of one way to receive, a value for each round.
struct Receptions {
    std::vector<double> predicted_mbps{};
    std::vector<double> mbps{};
    std::string why{};                // of the last
    std::uint64_t device_frames = 0;  // of all
};

void receive(const std::string& recording, const std::string& device, std::uint64_t packets,
             Receptions& all) {
    std::vector<std::string> words{"dvbs2", "rx", recording, "--executor", "pipeline", "--json"};
    if (!device.empty()) words.insert(words.end(), {"--device", device});
    const Json json = parse_json(run_self(words), "the receiver's report");
    const JsonLocation report(json, "the receiver's report");
    if (report.at("ts_packets").number() != static_cast<double>(packets))
        throw JobFailed(fmt::format("{} packets were sent, {} received: no time of that counts", packets,
                                    report.at("ts_packets").number()));
    all.predicted_mbps.push_back(report.at("predicted_mbps").number());
    all.mbps.push_back(report.at("info_mbps").number());
    const JsonLocation use = report.at("device");
    all.device_frames += static_cast<std::uint64_t>(use.at("frames").number());
    if (use.find("why")) all.why = use.at("why").text();
}

std::vector<Cell> row(const std::string& name, const Receptions& all) {
    return {name, median(all.mbps), spread_percent(all.mbps), median(all.predicted_mbps), all.device_frames};
}

}  // namespace

ResultTable device_receiver_table(const std::string& device, std::uint64_t packets) {
    constexpr int kRounds = 5;
    const FolderForNow folder("device");
    const std::string clean = folder / "clean.sigmf-meta";
    const std::string noisy = folder / "noisy.sigmf-meta";
    run_self({"dvbs2", "tx", "--random", std::to_string(packets), "--modcod", "QPSK 3/4", "--pilots", "-o",
              clean});
    run_self({"dvbs2", "channel", clean, "-o", noisy, "--esn0", "4.6"});
    Receptions host, both;
    for (int round = 0; round < kRounds; ++round) {
        receive(noisy, {}, packets, host);
        receive(noisy, device, packets, both);
    }
    ResultTable table{
        .title = fmt::format("{}: the receiver with it and without, Mb/s of information (medians "
                             "of {}, by turns)",
                             device, kRounds),
        .columns = {{"receiver"},
                    {"Mb/s", 2, false, "mbps"},
                    {"+-%", 0, false, "spread_percent"},
                    {"predicted", 2, false, "predicted_mbps"},
                    {"frames on it", 0, false, "device_frames"}}};
    table.rows = {row("host alone", host), row("with " + device, both)};
    table.notes = {
        fmt::format("QPSK 3/4, normal frames with pilots, Es/N0 4.6 dB, {} packets, all received", packets)};
    if (!both.why.empty()) table.notes.push_back(both.why);
    return table;
}

}  // namespace tidemill::cli
