#include "tidemill/cli/reception_options.hpp"

namespace tidemill::cli {

void add_reception_options(CLI::App& verb, ReceptionOptions& options) {
    verb.add_option("recording", options.recording, "SigMF recording, or raw .cf32 .ci16 .ci8 .cu8 samples")
        ->required();
    verb.add_option("--symbol-rate", options.symbol_rate_hz,
                    "Symbols per second (default: half the sample rate)")
        ->check(CLI::PositiveNumber);
    verb.add_option("--rolloff", options.rolloff, "Roll-off of the transmitter: 0.35, 0.25 or 0.20")
        ->capture_default_str();
    verb.add_option("--gold", options.gold_code, "Gold code of the physical-layer scrambling")
        ->capture_default_str();
    verb.add_option("--sample-rate", options.sample_rate_hz,
                    "Samples per second, where the recording does not tell")
        ->check(CLI::PositiveNumber);
    verb.add_option("--format", options.format, "Format of raw samples whose name does not tell");
}

}  // namespace tidemill::cli
