#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/dvbs2/ber/ber_trial.hpp"
#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

/// `tidemill dvbs2 ber`, as the command line says it.
struct BerOptions {
    std::vector<int> modcods;  ///< their numbers; empty: all
    dvbs2::FrameSize frame = dvbs2::FrameSize::normal;
    bool pilots = false;
    std::vector<double> esn0_db;    ///< of these three one may be given;
    std::vector<double> ebn0_db;    ///< none: what the project wants of
    std::vector<double> margin_db;  ///< each frame size over table 13's threshold
    bool is_full = false;           ///< the whole receiver, not ideal synchronisation
    dvbs2::FullSync full_sync;
    dvbs2::BerLimits limits;
    int iterations = 150;
    bool sum_product = false;  ///< counts the same frames by floating-point sum-product, too
    int threads = 0;           ///< 0: one for each core
    std::uint64_t seed = 1;
    std::uint64_t first_frame = 0;  ///< number of each point's first frame
    std::string target;  ///< instruction set of all kernels, for the whole process; empty: the best
    std::string state;   ///< file to go on from and to keep up to date; empty: none
    std::string csv;     ///< file for the table; empty: none
    bool json = false;
    std::stop_token stop{};  ///< of the program that this one is inside of; else the user's signals end it
};

/// A point and what came of it.
struct BerResult {
    dvbs2::BerPoint point;
    dvbs2::BerCounts counts;
    std::optional<dvbs2::BerCounts> by_sum_product{};  ///< of the same frames
};

/// All points that the options ask for; throws WrongUsage, also where a part of a count cuts a burst.
std::vector<dvbs2::BerPoint> ber_points(const BerOptions& options);

/// Counts the errors of every point, one after the other. An interrupt ends it early: later points have no
/// frames.
std::vector<BerResult> count_errors(const BerOptions& options);

/// Information bits per data symbol in dB: Es/N0 less Eb/N0.
double bits_per_symbol_db(const dvbs2::Pls& pls);

/// A frame error rate that others measured.
struct PublishedRate {
    int modcod;
    double ebn0_db;
    double frame_error_rate;
};

/// Source of the published rates: short frames, with ideal synchronisation.
extern const std::string_view kPublishedBy;

/// Error rates that others measured for a code.
std::vector<PublishedRate> published_rates(int modcod, dvbs2::FrameSize frame);

/// The results beside table 13's thresholds, and what others published for the same points.
ResultTable ber_table(const BerOptions& options, const std::vector<BerResult>& results);

}  // namespace tidemill::cli
