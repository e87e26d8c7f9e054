#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::cli {

/// The samples looked into hold no signal, or not the wanted one.
struct NoSignalFound : JobFailed {
    using JobFailed::JobFailed;
};

/// Values that a search is to find.
struct SearchFor {
    bool symbol_rate = false;
    bool rolloff = false;
    bool gold_code = false;

    bool anything() const { return symbol_rate || rolloff || gold_code; }
};

/// Opens the samples from their first on, as often as it is called.
using OpenSamples = std::function<std::unique_ptr<io::SampleSource>()>;

/// Looks at the beginning of a recording and fills in what is searched: the symbol rate by trying those at
/// which the power pulses, the gold code by the pilots, the roll-off by what a BBFRAME's header says. The
/// sample rate must be known. Throws NoSignalFound saying what was not found.
void search_signal(const OpenSamples& open, const SearchFor& search, dvbs2::ReceiverConfig& config);

/// The symbol rate that the beginning of a recording has, where the receiver finds no clock there at the
/// given one, and frames at one within half a percent of it; nothing else.
std::optional<double> corrected_symbol_rate(const OpenSamples& open, dvbs2::ReceiverConfig config);

}  // namespace tidemill::cli
