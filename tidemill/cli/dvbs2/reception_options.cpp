#include "tidemill/cli/dvbs2/reception_options.hpp"

#include "tidemill/cli/dvbs2/sample_format_name.hpp"

namespace tidemill::cli {

void add_recording_options(Verb& verb, ReceptionOptions& options) {
    verb.option("recording", options.recording,
                "SigMF recording or archive, .wav, .sdriq, raw .cf32 .cf64 .ci16 .ci8 .cu8 samples; raw "
                "samples also "
                "from a named pipe, or - for standard input")
        .is(Kind::input_place)
        .required();
    verb.option("--rate,--sample-rate", options.sample_rate_hz,
                "Samples per second, where the recording does not tell")
        .in(above(0));
    verb.parsed(
        "--format", options.format, sample_format_of,
        "Format of raw samples whose name does not tell: cf32, cf64, ci16, ci8, cu8; _be behind it for "
        "big endian");
}

void add_reception_options(Verb& verb, ReceptionOptions& options) {
    add_recording_options(verb, options);
    verb.option("--symbol-rate", options.symbol_rate_hz, "Symbols per second, or auto to search")
        .in(above(0))
        .shows("half the sample rate");
    verb.option("--offset", options.offset_hz,
                "Hertz from the recording's centre to the carrier: 400k, -1.2M");
    verb.option("--rolloff", options.rolloff,
                "Roll-off of the transmitter: 0.35, 0.25 or 0.20, or auto to take what it says")
        .in(above(0));
    verb.option("--gold", options.gold_code,
                "Gold code of the physical-layer scrambling, or auto to search by the pilots")
        .in(at_least(0));
}

}  // namespace tidemill::cli
