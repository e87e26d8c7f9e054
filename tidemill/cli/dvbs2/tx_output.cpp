#include "tidemill/cli/dvbs2/tx_output.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/modcod_name.hpp"
#include "tidemill/cli/dvbs2/sample_format_name.hpp"
#include "tidemill/cli/output.hpp"
#include "tidemill/io/recording_writer.hpp"
#include "tidemill/io/soapy_sink.hpp"

namespace tidemill::cli {

namespace {

float gain_of(const TxOptions& options) {
    return static_cast<float>(std::pow(10.0, options.level_dbfs / 20.0));
}

class TxRecording final : public TxOutput {
  public:
    explicit TxRecording(io::RecordingWriter writer) : writer_(std::move(writer)) {}
    void write(std::span<const dsp::Iq> samples) override { writer_.write(samples); }
    void rest(std::uint64_t samples) override {
        const std::vector<dsp::Iq> silence(std::min<std::uint64_t>(samples, kSilentSamples));
        for (std::uint64_t left = samples; left > 0; left -= std::min<std::uint64_t>(left, silence.size()))
            writer_.write(std::span(silence).first(std::min<std::uint64_t>(left, silence.size())));
    }
    void close() override { writer_.close(); }
    std::uint64_t samples() const override { return writer_.samples(); }
    std::uint64_t limited_samples() const override { return writer_.limited_samples(); }
    void stop() noexcept override { writer_.end(); }

  private:
    static constexpr std::uint64_t kSilentSamples = 65536;  // at a time

    io::RecordingWriter writer_;
};

class TxRadio final : public TxOutput {
  public:
    // The ramps fall into the pulse of the first symbols and the header of the first frame.
    TxRadio(const TxOptions& options, const io::RadioSettings& settings)
        : sink_(io::SoapyLibrary::installed(), options.output, settings,
                {.gain = gain_of(options),
                 .ramp_samples = kRampSymbols * static_cast<std::size_t>(options.samples_per_symbol)}) {}
    void write(std::span<const dsp::Iq> samples) override { sink_.write(samples); }
    void rest(std::uint64_t samples) override { sink_.rest(samples); }
    void close() override { sink_.close(); }
    std::uint64_t samples() const override { return sink_.samples(); }
    std::uint64_t limited_samples() const override { return sink_.limited_samples(); }
    bool is_live() const override { return true; }
    std::uint64_t underflows() const override { return sink_.underflows(); }
    void stop() noexcept override { sink_.stop(); }

  private:
    static constexpr std::size_t kRampSymbols = 32;

    io::SoapySink sink_;
};

std::unique_ptr<TxOutput> open_recording(const TxOptions& options) {
    io::SigmfMetadata description;
    description.format = stored_format(options.output, options.format);
    description.sample_rate_hz = sample_rate_hz(options);
    description.description =
        options.plan.empty()
            ? fmt::format("DVB-S2, {}, {} frames, sent by Tidemill",
                          modcod_name(*dvbs2::find_modcod(options.modcod)), name(options.frame))
            : fmt::format("DVB-S2, {}, sent by Tidemill", options.plan);
    return std::make_unique<TxRecording>(
        writing([&] { return io::RecordingWriter(options.output, description, gain_of(options)); }));
}

}  // namespace

double sample_rate_hz(const TxOptions& options) {
    return options.symbol_rate_hz * options.samples_per_symbol;
}

std::unique_ptr<TxOutput> open_tx_output(const TxOptions& options) {
    if (!io::is_soapy_place(options.output)) {
        if (options.radio.any())
            throw WrongUsage(fmt::format("{} is no radio:{} is for driver=NAME", options.output,
                                         options_text(options.radio)));
        return open_recording(options);
    }
    if (options.format) throw WrongUsage("--format: a radio has a format of its own");
    const RadioPlan plan = radio_plan(options.radio, {.sample_rate_hz = sample_rate_hz(options),
                                                      .symbol_rate_hz = options.symbol_rate_hz,
                                                      .carrier_is_placed = true});
    return writing([&] { return std::make_unique<TxRadio>(options, plan.settings); });
}

}  // namespace tidemill::cli
