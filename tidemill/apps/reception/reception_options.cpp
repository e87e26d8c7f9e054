#include "tidemill/apps/reception/reception_options.hpp"

#include "tidemill/dvbs2/standard/gold_name.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/io/recordings/sample_format_name.hpp"

namespace tidemill::cli {

void add_recording_options(Verb& verb, ReceptionOptions& options) {
    verb.option("recording", options.recording,
                "SigMF recording or archive, .wav, .sdriq, raw .cf32 .cf64 .ci16 .ci8 .cu8 samples; raw "
                "samples also from a named pipe, tcp://host:port, tcp-listen://host:port, zmq://host:port, "
                "packets by vita49://host:port, or - for standard "
                "input; "
                "a radio: rtl_tcp://host:port, or driver=NAME with what SoapySDR finds by that")
        .is(Kind::input_place)
        .required();
    verb.option("--rate,--sample-rate", options.sample_rate_hz,
                "Samples per second, if the recording has no rate")
        .in(between(io::kLeastSampleRateHz, io::kMostSampleRateHz))
        .called("HZ")
        .common();
    verb.parsed("--format", options.format, sample_format_of,
                "Format of raw samples, if the name does not give it: cf32, cf64, ci16, ci8, cu8; _be behind "
                "it for "
                "big endian")
        .called("FORMAT")
        .common();
}

void add_radio_options(Verb& verb, RadioOptions& options) {
    verb.heading("Radio");
    verb.option("--freq", options.frequency_hz, "Frequency of the carrier at the radio: 741.5M")
        .in(above(0))
        .called("HZ")
        .common();
    verb.option("--lo", options.lo_hz, "Frequency of a converter's oscillator before the radio: 9750M")
        .in(above(0))
        .called("HZ")
        .common();
    verb.option("--gain", options.gain_db, "Gain of the radio")
        .in(between(-50, 150))
        .shows("the radio chooses")
        .called("DB")
        .common();
    verb.option("--ppm", options.correction_ppm,
                "Frequency error of the radio's oscillator; positive if it is too fast")
        .in(between(-1000, 1000))
        .called("PPM")
        .common();
    verb.flag("--agc", options.digital_agc, "Switch on a radio's digital gain control");
    verb.flag("--bias-tee", options.bias_tee, "Switch on a radio's supply for an amplifier at the antenna");
    verb.option("--antenna", options.antenna, "Antenna input of the radio")
        .shows("the radio chooses")
        .called("NAME");
    verb.option("--setting", options.settings, "Setting of the radio's module").called("KEY=VALUE");
}

void add_reception_options(Verb& verb, ReceptionOptions& options) {
    add_recording_options(verb, options);
    verb.option("--symbol-rate", options.symbol_rate_hz, "Symbols per second, or auto to search")
        .in(above(0))
        .shows("the recording's, else half the sample rate")
        .called("BAUD")
        .common();
    verb.option("--offset", options.offset_hz,
                "Frequency of the carrier from the recording's centre: 400k, -1.2M; with --symbol-rate")
        .called("HZ")
        .common();
    verb.file(
        "--doppler", options.doppler,
        [](const std::string& file) {
            return std::make_shared<const dvbs2::DopplerTrack>(dvbs2::read_doppler_track(file));
        },
        "Doppler shift as a tracking program predicts it: lines of seconds from the first sample, and of "
        "hertz");
    verb.option("--rolloff", options.rolloff,
                "Roll-off of the transmitter: 0.35, 0.25 or 0.20, or auto to take what it says")
        .in(above(0));
    verb.parsed(
            "--gold", options.gold_code, parse_gold,
            "Gold code of the physical-layer scrambling, root:N where its root is named, or auto to search "
            "by the pilots")
        .shows("0");
}

}  // namespace tidemill::cli
