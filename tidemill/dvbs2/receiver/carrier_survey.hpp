#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/dvbs2/search/band_carriers.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// Result for one input stream.
struct SurveyedStream {
    bool generic = false;                   ///< no transport stream
    std::vector<int> programmes{};          ///< programme numbers
    std::map<int, std::string> services{};  ///< names off the air, UTF-8, by service number
};

/// Kind of a carrier.
enum class CarrierKind {
    dvbs2,         ///< frames were decoded
    dvbs2_idle,    ///< nothing but dummy frames
    dvbs2_weak,    ///< headers of DVB-S2, no frame that could be decoded
    dvbs2x,        ///< headers that only DVB-S2X has
    dvbs,          ///< packets of DVB-S
    other,         ///< symbols, but nothing that is known
    no_symbols,    ///< nothing pulses: noise, or several carriers
    not_received,  ///< too little of it was recorded
};

/// Whether it is known what a carrier is.
inline bool is_known(CarrierKind kind) {
    return kind != CarrierKind::other && kind != CarrierKind::no_symbols && kind != CarrierKind::not_received;
}

/// A carrier after it was listened to.
struct SurveyedCarrier {
    FoundCarrier seen;
    CarrierKind kind = CarrierKind::no_symbols;
    double symbol_rate_hz = 0;           ///< measured; 0: none
    double offset_hz = 0;                ///< measured where there were frames, else as it was seen
    double rolloff = 0;                  ///< as it was seen, or by the frames
    std::optional<Pls> pls{};            ///< most frames'
    std::string_view dvbs_rate{};        ///< of DVB-S the code rate
    int header_code = 0;                 ///< of DVB-S2X headers the most frequent, 128 to 255
    std::optional<int> vl_snr_header{};  ///< the index of its frames for very low signals, where they are
    double esn0_db = 0;                  ///< of decoded frames, the median
    double heard_s = 0;                  ///< of signal that was listened to
    std::map<int, SurveyedStream> streams{};  ///< by input stream
};

/// Opens the samples from their first on, as often as it is called.
using OpenSamples = std::function<std::unique_ptr<io::SampleSource>()>;

/// How long to listen.
enum class SurveyDepth {
    frames,    ///< until it is known what it is
    services,  ///< until the names of its services came, or should have come
};

/// Tunes to a carrier that was found, and reports what it is: the exact symbol rate, frames, headers, streams
/// and their services, of as much of the signal as that takes, some seconds at most.
SurveyedCarrier survey(const OpenSamples& open, const FoundCarrier& carrier,
                       SurveyDepth depth = SurveyDepth::services);
/// The same with the result of measure_symbol_rates().
SurveyedCarrier survey_at(const std::optional<double>& symbol_rate_hz, const OpenSamples& open,
                          const FoundCarrier& carrier, SurveyDepth depth);

}  // namespace tidemill::dvbs2
