#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tidemill/apps/reception/carrier_choice.hpp"
#include "tidemill/apps/running/radio_plan.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/search/steady_stretches.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/live/sample_ring.hpp"
#include "tidemill/io/live/sample_source.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/options/option.hpp"

namespace tidemill::cli {

/// Part of a recording, by its samples.
using RecordingPart = dvbs2::SampleStretch;

/// Description of a recording by the user, and how to receive it.
struct ReceptionOptions {
    std::string recording;                    ///< a file, a stream of raw samples, or a radio
    std::optional<dsp::SampleFormat> format;  ///< of raw samples; none: by the name
    std::optional<double> sample_rate_hz;     ///< none: as the metadata say
    std::optional<OrAuto<double>>
        symbol_rate_hz{};               ///< none: half the sample rate; auto: searched, like the others
    std::optional<double> offset_hz{};  ///< where the carrier lies; none: about the middle
    std::shared_ptr<const dvbs2::DopplerTrack> doppler{};  ///< what moves the carrier; null: nothing known
    std::optional<CarrierSelection> carrier{};  ///< instead of rate and offset, what a scan finds there
    OrAuto<double> rolloff{0.20};
    OrAuto<int> gold_code{0};
    RadioOptions radio{};
    std::uint64_t skipped_bytes = 0;      ///< of a file, before its first sample
    std::optional<RecordingPart> part{};  ///< of a file, as if it had no more; none: all of it
    bool reopens = false;                 ///< a live input whose connection breaks off is opened again
    std::function<void()> came{};         ///< called when some of the first samples have come,
    std::function<void()> opened{};       ///< once all of them are there,
    std::function<void()> awaited{};      ///< and when there was no signal in them and more are waited for
    std::function<bool()> given_up{};     ///< whether the user wants no more while they are looked into
    std::stop_token stop{};  ///< of the program that this one is inside of; else the user's signals end it

    /// All carriers of a band at once, each into places of its own.
    bool of_all_carriers() const { return carrier && !carrier->only; }
};

/// A recording with a receiver's settings, checked.
struct ReceptionJob {
    io::Recording recording;                 ///< of a stream: what is known of it, without samples
    std::unique_ptr<io::SampleRing> stream;  ///< what streams in; null: a file
    std::vector<std::byte> beginning;        ///< of a stream: what has been read of it for a look
    double passed_s = 0;                     ///< of a stream: before that, looked into in vain
    bool interrupted = false;                ///< the user wanted no more while that was read
    /// Where a radio puts the carrier, from the centre; frequencies are counted from there.
    std::optional<double> carrier_hz{};
    dvbs2::ReceiverConfig config;
    std::optional<dvbs2::Tuning> tuning;  ///< none: the receiver takes the samples as they are
    std::vector<std::string> warnings;
    std::function<bool()> given_up{};  ///< as in the options
    /// Part of the samples in which the signal was found; none: they are looked at from the first on.
    std::optional<RecordingPart> looked_at{};
};

/// Examines the recording and fills in the settings, searching where that is wanted; throws IoError,
/// WrongUsage or JobFailed.
ReceptionJob prepare(const ReceptionOptions& options);

/// Where something lies on the air at an offset; nothing where the middle is not known.
std::optional<double> on_air_hz(const ReceptionJob& job, double offset_hz);

/// Where a live input brought more during a search than was kept, leaves out what came before now: behind a
/// hole no lock holds. What was left out counts as missing.
void skip_behind_gap(ReceptionJob& job);

/// Whether the user wants no more while the samples are looked into.
bool gives_up(const ReceptionJob& job);

/// The same for a whole band, of which nothing is known but how to read it.
ReceptionJob prepare_band(const ReceptionOptions& options);

/// All carriers of such a band that can be received; of a live one, once there are any. Throws NoSignalFound.
std::vector<NumberedCarrier> choose_all(const ReceptionOptions& options, ReceptionJob& band);

/// The same as prepare() for one carrier of such a band.
ReceptionJob job_of_carrier(const ReceptionOptions& options, const ReceptionJob& band,
                            const dvbs2::SurveyedCarrier& carrier);

/// The options with which the same recording is read again, each behind a space; empty where its name says
/// all.
std::string reading_options(const ReceptionOptions& options);

/// Stands between samples as they come and the tuner before a receiver.
using WrapSource = std::function<std::unique_ptr<io::SampleSource>(std::unique_ptr<io::SampleSource>)>;

/// The samples from their first on; those of a stream only once, for it takes the beginning away. `follows`:
/// a carrier that goes elsewhere is looked for and received there.
std::unique_ptr<io::SampleSource> open_source(ReceptionJob& job, const WrapSource& wrap = {},
                                              bool follows = true);

/// The samples as far as they can be looked at before the reception: all of a recording, a stream's
/// beginning, or a part of that. They end where the user wants no more.
std::unique_ptr<io::SampleSource> open_preview(const ReceptionJob& job,
                                               const std::optional<RecordingPart>& part);
/// The same, of the part that is looked at.
std::unique_ptr<io::SampleSource> open_preview(const ReceptionJob& job);

/// The parts of these samples between which the band changes, the one with the most power first; only one:
/// it does not.
std::vector<RecordingPart> steady_parts(const ReceptionJob& job);

}  // namespace tidemill::cli
