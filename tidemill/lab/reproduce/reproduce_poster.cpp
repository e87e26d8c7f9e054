#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_list.hpp"
#include "tidemill/lab/bench/device_memory_table.hpp"
#include "tidemill/lab/bench/runs.hpp"
#include "tidemill/lab/programs/increment_chain.hpp"
#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/published.hpp"
#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

// The poster on streaming applications on systems on a chip: its receiver on an M1 Ultra simulated, its two
// micro-benchmarks measured on what is here. Its diagrams are pictures; only what it says in words has
// numbers.
namespace tidemill::cli {

namespace {

constexpr const char* kPlatform = "m1u";

// Watts of a socket at rest, and of each core that is busy.
struct SocketWatts {
    double rest = 0;
    double big = 0;
    double little = 0;
};

// A row of the fit: 1, busy big cores, busy little cores, and the watts that were measured.
using FitRow = std::array<double, 4>;

// How many cores of each kind a published solution keeps busy at the rate that was measured.
FitRow busy_cores(const PublishedRow& row, const Profile& profile) {
    const double period = kPublishedBitsPerFrame * profile.frames_per_execution / row.number("measured_mbps");
    FitRow busy{1, 0, 0, row.number("socket_w")};
    for (const Stage& stage : published_schedule(row.text("stages")).stages) {
        const std::size_t kind = profile.kind_index(stage.core_kind);
        for (std::size_t i = 0; i < stage.task_count; ++i) {
            busy[stage.core_kind == "big" ? 1 : 2] +=
                profile.tasks[stage.first_task + i].weight_us[kind] / period;
        }
    }
    return busy;
}

// Least squares by the normal equations, solved by elimination: three unknowns.
SocketWatts fit(const std::vector<FitRow>& rows) {
    std::array<FitRow, 3> equations{};
    for (const FitRow& row : rows) {
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 4; ++j) equations[i][j] += row[i] * row[j];
        }
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const double pivot = equations[i][i];
        for (double& each : equations[i]) each /= pivot;
        for (std::size_t k = 0; k < 3; ++k) {
            const double factor = k == i ? 0 : equations[k][i];
            for (std::size_t j = 0; j < 4; ++j) equations[k][j] -= factor * equations[i][j];
        }
    }
    return {equations[0][3], equations[1][3], equations[2][3]};
}

// From the ten solutions that the energy-aware paper measured on the same machine.
SocketWatts fitted_watts(const Profile& profile) {
    std::vector<FitRow> rows;
    for (const PublishedRow& row : published_table("table3")) {
        if (row.text("platform") == kPlatform) rows.push_back(busy_cores(row, profile));
    }
    return fit(rows);
}

// Mean weight for threads that the system moves over all cores alike: the mean by the number of cores of each
// kind.
double mean_over_cores(const Profile& profile, double big, double little) {
    const double cores = profile.cores.big + profile.cores.little;
    return (profile.cores.big * big + profile.cores.little * little) / cores;
}

Profile wandering(Profile profile) {
    const std::size_t big = profile.kind_index("big"), little = profile.kind_index("little");
    for (ChainTask& task : profile.tasks) {
        const double mean = mean_over_cores(profile, task.weight_us[big], task.weight_us[little]);
        task.weight_us[big] = task.weight_us[little] = mean;
    }
    return profile;
}

// The poster's name of a way to put threads on cores, and our version of it.
struct PosterRow {
    const char* strategy;
    const char* ours;
    double mbps;
    double watts;
    double mj;
};
constexpr std::array kPosterRows{
    PosterRow{"S0, left to Linux", "HeRAD's stages, each thread on all cores alike", 54.5, 32, 8.0},
    PosterRow{"S1, fastest", "HeRAD's stages, pinned", 56.0, 30, 7.3},
    PosterRow{"S2, least energy", "least energy at its rate or more, pinned", 53.6, 26, 6.6},
};

struct Simulated {
    double mbps = 0;
    double watts = 0;  // of the cores, without the socket at rest
};

Simulated simulated(const Schedule& schedule, const Profile& profile, double big_w, double little_w,
                    std::uint64_t frames) {
    const MachineModel machine{
        .model = {.kinds = {{.kind = "big", .busy_w = big_w}, {.kind = "little", .busy_w = little_w}}}};
    const SimReport report = simulate(model_of(schedule, profile, machine), frames);
    return {mbps(profile, report.period_us), report.mean_w};
}

double mj_per_frame(double watts, double mbps, double bits) {
    return watts * bits / mbps / 1000;
}

double mj_per_frame(const Simulated& run) {
    return mj_per_frame(run.watts, run.mbps, kPublishedBitsPerFrame);
}

// The optimum that takes the least energy a frame, for all numbers of cores that reach a rate.
Simulated thriftiest(const Profile& profile, const SocketWatts& watts, double wanted_mbps,
                     std::uint64_t frames) {
    Simulated best;
    for (int big = 1; big <= profile.cores.big; ++big) {
        for (int little = 0; little <= profile.cores.little; ++little) {
            const Schedule schedule = strategy("herad").schedule(profile, {.big = big, .little = little});
            if (mbps(profile, period_us(schedule, profile)) < wanted_mbps) continue;
            const Simulated run = simulated(schedule, profile, watts.big, watts.little, frames);
            if (best.mbps == 0 || mj_per_frame(run) < mj_per_frame(best)) best = run;
        }
    }
    return best;
}

std::array<Simulated, 3> simulated_rows(const Profile& profile, const SocketWatts& watts,
                                        std::uint64_t frames) {
    const Schedule fastest = strategy("herad").schedule(profile, profile.cores);
    const double anywhere = mean_over_cores(profile, watts.big, watts.little);
    return {simulated(fastest, wandering(profile), anywhere, anywhere, frames),
            simulated(fastest, profile, watts.big, watts.little, frames),
            thriftiest(profile, watts, kPosterRows[2].mbps, frames)};
}

}  // namespace

std::vector<ResultTable> poster_dvbs2(const ReproduceOptions& options) {
    constexpr double kImpliedBits = 13.6e3;  // by the poster's own three columns
    const Profile profile = published_profile(kPlatform);
    const SocketWatts watts = fitted_watts(profile);
    ResultTable table{"The receiver on an M1 Ultra, published and simulated from its tasks' published times",
                      {{"publ. strategy"},
                       {"ours"},
                       {"Mb/s publ.", 1},
                       {"Mb/s", 1},
                       {"W publ.", 0},
                       {"W of cores", 1},
                       {"mJ publ.", 1},
                       {"mJ, 13.6 kbit", 2},
                       {"mJ, 14.2 kbit", 2},
                       {"ours mJ", 2}}};
    const std::array<Simulated, 3> ours = simulated_rows(profile, watts, options.frames);
    for (std::size_t i = 0; i < kPosterRows.size(); ++i) {
        const PosterRow& row = kPosterRows[i];
        table.rows.push_back({row.strategy, row.ours, row.mbps, ours[i].mbps, row.watts, ours[i].watts,
                              row.mj, mj_per_frame(row.watts, row.mbps, kImpliedBits),
                              mj_per_frame(row.watts, row.mbps, kPublishedBitsPerFrame),
                              mj_per_frame(ours[i])});
    }
    table.notes = {
        fmt::format(
            "Watts by a fit to the ten solutions measured on such a machine (energy-aware paper, Table 3): "
            "{:.1f} at rest, {:.2f} a busy big core, {:.2f} a busy little one. The cores alone are near the "
            "poster's watts; with the rest they are that paper's, which the poster's cannot be.",
            watts.rest, watts.big, watts.little),
        "The poster's three columns agree with each other for frames of 13.6 kbit; a short frame of rate 8/9 "
        "carries 14,232 bit. Energy is told both ways.",
        "Linux is no simulator of ours for pipelines: S0 takes the poster's reason, threads that are moved "
        "over all "
        "cores alike, at its word.",
    };
    add_verdicts(table, "simulated throughput within 10 % of the measured one.", [](const auto& row) {
        constexpr double kNear = 0.1;
        return agrees_within(kNear, row[3], row[2]);
    });
    if (mj_per_frame(ours[1]) <= mj_per_frame(ours[2]))
        table.notes.emplace_back("By this model no optimum takes less energy a frame than the fastest one.");
    return {table};
}

namespace {

constexpr std::array kByHand{Pinning::kPacked, Pinning::kGuided, Pinning::kDistant};

/// Time of a frame at each round's four turns: by each way of pinning, and left to the system.
struct LocalityRounds {
    std::array<std::vector<double>, kByHand.size()> by_hand_us;
    std::vector<double> left_us;

    explicit LocalityRounds(IncrementChain& chain) {
        for (int round = 0; round < kPairedRounds; ++round) {
            interruption_point();
            for (std::size_t way = 0; way < kByHand.size(); ++way)
                by_hand_us[way].push_back(chain.frame_ns(kByHand[way]) / 1e3);
            left_us.push_back(chain.frame_ns(Pinning::kLoose) / 1e3);
        }
    }

    const std::vector<double>& best_us() const { return *std::ranges::min_element(by_hand_us, {}, median); }

    // Linux is outperformed where some way of pinning is faster.
    Verdict outperformed() const {
        std::vector<Interval> ratios;
        for (const std::vector<double>& us : by_hand_us)
            ratios.push_back(interval_of(ratios_of(us, left_us)));
        const auto is = [](Verdict verdict) {
            return [verdict](const Interval& ratio) { return is_below(ratio, 1) == verdict; };
        };
        if (std::ranges::any_of(ratios, is(Verdict::yes))) return Verdict::yes;
        return std::ranges::all_of(ratios, is(Verdict::no)) ? Verdict::no : Verdict::cannot_tell;
    }
};

std::vector<Cell> locality_row(std::size_t bytes, const LocalityRounds& rounds) {
    const Interval ratio = interval_of(ratios_of(rounds.left_us, rounds.best_us()));
    std::vector<Cell> row{size_text(bytes)};
    for (const std::vector<double>& us : rounds.by_hand_us) row.emplace_back(median(us));
    row.insert(row.end(), {median(rounds.left_us), ratio.least, ratio.most, to_cell(rounds.outperformed())});
    return row;
}

std::size_t rows_that_say(const ResultTable& table, Verdict verdict) {
    return static_cast<std::size_t>(std::ranges::count(
        table.rows, to_cell(verdict), [](const std::vector<Cell>& row) { return row.back(); }));
}

}  // namespace

std::vector<ResultTable> poster_locality(const ReproduceOptions& options) {
    const Topology topology = Topology::here();
    ResultTable table{fmt::format("Streaming increments, a stage per core: us a task, measured here "
                                  "(medians of {} rounds)",
                                  kPairedRounds),
                      {{"buffer"},
                       {"pinned, packed", 2},
                       {"guided", 2},
                       {"distant", 2},
                       {"left to Linux", 2},
                       {"Linux/best, from", 2},
                       {"to", 2},
                       {kReproduces}}};
    const auto most = static_cast<double>(options.most_bytes);
    for (std::size_t bytes = 4096; bytes <= options.most_bytes; bytes *= 4) {
        if (options.progress) options.progress(size_text(bytes), static_cast<double>(bytes) / most);
        IncrementChain chain(bytes, topology);
        table.rows.push_back(locality_row(bytes, LocalityRounds(chain)));
    }
    table.notes = {
        fmt::format("\"Linux scheduler is always outperformed by manual thread pinning\", says the poster of "
                    "16 tasks on an M1 Ultra: here, {} tasks on {} cores, at {} of {} sizes, and at {} not.",
                    IncrementChain(4096, topology).stages(), topology.cores.size(),
                    rows_that_say(table, Verdict::yes), table.rows.size(), rows_that_say(table, Verdict::no)),
        fmt::format("reproduces: yes where a frame takes less with some way of pinning than left to Linux in "
                    "all but one of {} rounds at least, no where it takes more with each of them in as many, "
                    "else cannot tell. The ratio is from the second least to the second greatest of the "
                    "rounds, with the way whose median is least.",
                    kPairedRounds),
        "A stage's time between two frames.",
    };
    return {table};
}

std::vector<ResultTable> poster_memory(const ReproduceOptions& options) {
    const FoundDevices found = find_devices();
    std::vector<ResultTable> tables;
    for (const FoundDevice& each : found.devices) {
        if (!each.info.same_as.empty()) continue;
        const std::unique_ptr<Device> device = each.open();
        tables.push_back(device_memory_table(*device, options.device_bytes));
    }
    if (tables.empty())
        tables.push_back({"The increment kernel by memory policy and size: no device is here", {}});
    for (const std::string& reason : found.absent) tables.back().notes.push_back(reason);
    tables.back().notes.emplace_back(
        "Published: a first execution that may have to move the buffer, and a second one that must not, on a "
        "GeForce RTX "
        "4050 and a Jetson Orin NX under SYCL's policies: buffers and accessors (nearest: copy), USM device "
        "(pinned), USM "
        "host (mapped), USM shared (managed). The values are in a picture only, so none stand beside ours.");
    for (ResultTable& table : tables) add_no_verdicts(table, "the published values are a picture.");
    return tables;
}

}  // namespace tidemill::cli
