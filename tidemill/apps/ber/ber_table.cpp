#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tidemill/apps/ber/ber_job.hpp"
#include "tidemill/dvbs2/ber/capacity.hpp"
#include "tidemill/dvbs2/ber/proportion.hpp"
#include "tidemill/dvbs2/channel/linear_equaliser.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"

namespace tidemill::cli {

namespace {

using dvbs2::BerCounts;

// StreamPU's transceiver, short frames, ideal synchronisation, as measured for this project.
constexpr std::array<PublishedRate, 7> kStreamPu = {{{10, 3.9, 0.117},
                                                     {10, 4.1, 1.6e-3},
                                                     {5, 2.0, 0.99},
                                                     {5, 2.3, 0.25},
                                                     {5, 2.5, 2.4e-3},
                                                     {16, 6.6, 0.21},
                                                     {16, 6.8, 5e-3}}};

// The least Es/N0 at which any code may carry what this one does.
double capacity_of(const dvbs2::Pls& pls) {
    return dvbs2::capacity_esn0_db(*dvbs2::find_modcod(pls.modcod),
                                   std::pow(10.0, bits_per_symbol_db(pls) / 10));
}

Cell linear_equaliser_of(const dvbs2::BerPoint& point) {
    if (!point.full_sync || point.full_sync->echoes.empty()) return {};
    return dvbs2::linear_equaliser_esn0_db(point.full_sync->echoes, point.full_sync->rolloff, point.esn0_db);
}

std::vector<Cell> row_of(const BerResult& result) {
    const dvbs2::BerPoint& point = result.point;
    const BerCounts& counts = result.counts;
    const std::optional<BerCounts>& by_sum_product = result.by_sum_product;
    const dvbs2::Modcod& modcod = *dvbs2::find_modcod(point.pls.modcod);
    const dvbs2::Interval interval = dvbs2::proportion_interval(counts.frame_errors, counts.frames);
    const auto known = [&](double value) { return counts.frames > 0 ? Cell(value) : Cell(); };
    const auto seen = static_cast<double>(counts.frames - counts.frames_lost);
    return {modcod_name(modcod),
            std::string(name(point.pls.size)),
            point.esn0_db,
            point.esn0_db - bits_per_symbol_db(point.pls),
            double{modcod.esn0_threshold_db},
            counts.frames,
            counts.frame_errors,
            counts.frames_lost,
            counts.undetected,
            known(counts.frame_error_rate()),
            known(interval.low),
            known(interval.high),
            counts.bits > 0 ? Cell(counts.bit_error_rate()) : Cell(),
            seen > 0 ? Cell(static_cast<double>(counts.ldpc_iterations) / seen) : Cell(),
            by_sum_product ? Cell(by_sum_product->frame_errors) : Cell(),
            by_sum_product && by_sum_product->frames > 0 ? Cell(by_sum_product->frame_error_rate()) : Cell(),
            by_sum_product ? Cell(capacity_of(point.pls)) : Cell(),
            linear_equaliser_of(point),
            counts.bits,
            counts.bit_errors,
            counts.ldpc_iterations};
}

std::string sync_note(const BerOptions& options) {
    if (!options.is_full && options.sum_product) {
        return fmt::format(
            "Synchronisation ideal, at most {} LDPC iterations; sum-product: exact demapping, floating "
            "point, 50 "
            "iterations, on the same frames; capacity: Es/N0 from which on any code may carry as much.",
            options.iterations);
    }
    if (!options.is_full) {
        return fmt::format("Synchronisation ideal, at most {} LDPC iterations.", options.iterations);
    }
    const dvbs2::FullSync& full = options.full_sync;
    const std::string echoes =
        full.echoes.empty()
            ? ""
            : " Es/N0 is that of the direct way; linear equaliser: what the best one of any length leaves "
              "of it.";
    return fmt::format(
        "The whole receiver, in bursts of {} frames: offset up to {} of the symbol rate, drift up to {:g} "
        "cycles "
        "per symbol squared, clock up to {} ppm, phase noise {} degrees in 1000 symbols, pilots {}.{}",
        full.frames_per_burst, full.frequency_cycles_per_symbol, full.drift_cycles_per_symbol2,
        full.clock_offset_ppm, full.phase_noise_deg, options.pilots ? "on" : "off", echoes);
}

// Rates that others published for the codes in the table.
std::vector<std::string> published_notes(const std::vector<BerResult>& results) {
    std::set<int> modcods;
    for (const BerResult& result : results) {
        if (result.point.pls.size == dvbs2::FrameSize::short_) modcods.insert(result.point.pls.modcod);
    }
    std::vector<std::string> notes;
    for (const PublishedRate& other : kStreamPu) {
        if (!modcods.contains(other.modcod)) continue;
        const dvbs2::Pls pls{other.modcod, dvbs2::FrameSize::short_, false};
        notes.push_back(fmt::format("{}: {} short at Es/N0 {:.2f} dB, Eb/N0 {:.1f} dB: FER {:.2g}",
                                    kPublishedBy, modcod_name(*dvbs2::find_modcod(other.modcod)),
                                    other.ebn0_db + bits_per_symbol_db(pls), other.ebn0_db,
                                    other.frame_error_rate));
    }
    return notes;
}

}  // namespace

const std::string_view kPublishedBy = "StreamPU (min-sum, 10 iterations)";

std::vector<PublishedRate> published_rates(int modcod, dvbs2::FrameSize frame) {
    std::vector<PublishedRate> rates;
    if (frame != dvbs2::FrameSize::short_) return rates;
    std::ranges::copy_if(kStreamPu, std::back_inserter(rates),
                         [=](const PublishedRate& rate) { return rate.modcod == modcod; });
    return rates;
}

ResultTable ber_table(const BerOptions& options, const std::vector<BerResult>& results) {
    using Column = ResultTable::Column;
    ResultTable table{
        "Frame and bit errors over white noise",
        {Column{"MODCOD", 0, false, "modcod"}, Column{"frame", 0, false, "frame"},
         Column{"Es/N0 dB", 2, false, "esn0_db"}, Column{"Eb/N0 dB", 2, false, "ebn0_db"},
         Column{"table 13 dB", 2, false, "table_13_esn0_db"}, Column{"frames", 0, false, "frames"},
         Column{"wrong", 0, false, "frames_wrong"}, Column{"lost", 0, false, "frames_lost"},
         Column{"undetected", 0, false, "frames_wrong_undetected"},
         Column{"FER", 1, true, "frame_error_rate"}, Column{"95 % from", 1, true, "frame_error_rate_low"},
         Column{"to", 1, true, "frame_error_rate_high"}, Column{"BER", 1, true, "bit_error_rate"},
         Column{"iterations", 1, false, "ldpc_iterations"},
         Column{"sum-product wrong", 0, false, "sum_product_frames_wrong"},
         Column{"sum-product FER", 1, true, "sum_product_frame_error_rate"},
         Column{"capacity dB", 2, false, "capacity_esn0_db"},
         Column{"linear equaliser dB", 2, false, "linear_equaliser_esn0_db"},
         // Columns by which parts of a count are added up.
         Column{"bits", 0, false, "bits", false}, Column{"bits wrong", 0, false, "bits_wrong", false},
         Column{"all iterations", 0, false, "ldpc_iterations_total", false}}};
    for (const BerResult& result : results) table.rows.push_back(row_of(result));
    table.notes.push_back(sync_note(options));
    for (std::string& note : published_notes(results)) table.notes.push_back(std::move(note));
    return table;
}

}  // namespace tidemill::cli
