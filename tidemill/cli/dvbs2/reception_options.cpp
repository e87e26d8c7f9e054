#include "tidemill/cli/dvbs2/reception_options.hpp"

namespace tidemill::cli {

void add_reception_options(CLI::App& verb, ReceptionOptions& options) {
    verb.add_option("recording", options.recording,
                    "SigMF recording or archive, .wav, raw .cf32 .cf64 .ci16 .ci8 .cu8 samples; - for "
                    "raw samples on standard input")
        ->required();
    verb.add_option("--symbol-rate", options.symbol_rate,
                    "Symbols per second, or auto to search (default: half the sample rate)");
    verb.add_option("--rolloff", options.rolloff,
                    "Roll-off of the transmitter: 0.35, 0.25 or 0.20, or auto to take what it says")
        ->capture_default_str();
    verb.add_option("--gold", options.gold_code,
                    "Gold code of the physical-layer scrambling, or auto to search by the pilots")
        ->capture_default_str();
    verb.add_option("--sample-rate,--rate", options.sample_rate_hz,
                    "Samples per second, where the recording does not tell")
        ->check(CLI::PositiveNumber);
    verb.add_option("--format", options.format,
                    "Format of raw samples whose name does not tell: cf32, cf64, ci16, ci8, cu8; _be behind "
                    "it for big endian");
}

}  // namespace tidemill::cli
