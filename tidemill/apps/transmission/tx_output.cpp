#include "tidemill/apps/transmission/tx_output.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/io/live/soapy_sink.hpp"
#include "tidemill/io/live/vita49_source.hpp"
#include "tidemill/io/recordings/recording_writer.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/options/stored_format.hpp"

namespace tidemill::cli {

namespace {

float gain_of(const TxOutputOptions& options) {
    return static_cast<float>(std::pow(10.0, options.level_dbfs / 20.0));
}

class TxRecording final : public TxOutput {
  public:
    TxRecording(io::RecordingWriter writer, bool may_wait)
        : writer_(std::move(writer)), may_wait_(may_wait) {}
    void write(std::span<const dsp::Iq> samples) override { writer_.write(samples); }
    std::optional<dvbs2::TxStages::Rounded> rounding() const override {
        return {{writer_.format(), writer_.gain()}};
    }
    void write_rounded(std::span<const std::byte> samples, std::uint64_t limited) override {
        writer_.write_raw(samples, limited);
    }
    bool may_wait() const override { return may_wait_; }
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
    bool may_wait_;
};

class ForgetfulOutput final : public TxOutput {
  public:
    explicit ForgetfulOutput(const std::optional<dvbs2::TxStages::Rounded>& rounding) : rounding_(rounding) {}
    void write(std::span<const dsp::Iq> samples) override { samples_ += samples.size(); }
    std::optional<dvbs2::TxStages::Rounded> rounding() const override { return rounding_; }
    void rest(std::uint64_t samples) override { samples_ += samples; }
    void close() override {}
    std::uint64_t samples() const override { return samples_; }
    std::uint64_t limited_samples() const override { return 0; }
    bool may_wait() const override { return false; }

  private:
    std::optional<dvbs2::TxStages::Rounded> rounding_;
    std::uint64_t samples_ = 0;
};

class TxRadio final : public TxOutput {
  public:
    // The ramps fall into the pulse of the first symbols and the header of the first frame.
    TxRadio(const TxOutputOptions& options, int samples_per_symbol, const io::RadioSettings& settings)
        : sink_(io::SoapyLibrary::installed(), options.place, settings,
                {.gain = gain_of(options),
                 .ramp_samples = kRampSymbols * static_cast<std::size_t>(samples_per_symbol)}) {}
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

bool takes_its_time(const std::string& place) {
    std::error_code unknown;
    return is_standard_stream(place) || io::is_vita_place(place) || std::filesystem::is_fifo(place, unknown);
}

std::unique_ptr<TxOutput> open_recording(const TxOutputOptions& options, const TxSignalOptions& signal) {
    io::SigmfMetadata description;
    description.format = stored_format(options.place, options.format);
    warn_of_rounding(options.level_dbfs, description.format);
    description.sample_rate_hz = sample_rate_hz(signal);
    description.symbol_rate_hz = signal.symbol_rate_hz;
    description.description =
        signal.plan.empty() ? fmt::format("DVB-S2, {}, {} frames, sent by Tidemill",
                                          modcod_name(*dvbs2::find_modcod(signal.modcod)), name(signal.frame))
                            : fmt::format("DVB-S2, {}, sent by Tidemill", signal.plan);
    return std::make_unique<TxRecording>(
        writing([&] { return io::RecordingWriter(options.place, description, gain_of(options)); }),
        takes_its_time(options.place));
}

}  // namespace

double sample_rate_hz(const TxSignalOptions& signal) {
    return signal.symbol_rate_hz * signal.samples_per_symbol;
}

bool has_own_pace(const std::string& place) {
    return io::is_soapy_place(place) || io::is_vita_place(place);
}

std::unique_ptr<TxOutput> forgetful_tx_output(const TxOutputOptions& options) {
    if (io::is_soapy_place(options.place)) return std::make_unique<ForgetfulOutput>(std::nullopt);
    return std::make_unique<ForgetfulOutput>(
        dvbs2::TxStages::Rounded{stored_format(options.place, options.format), gain_of(options)});
}

std::unique_ptr<TxOutput> open_tx_output(const TxOutputOptions& options, const TxSignalOptions& signal) {
    if (!io::is_soapy_place(options.place)) {
        if (options.radio.any())
            throw WrongUsage(fmt::format("{} is no radio:{} is for driver=NAME", options.place,
                                         options_text(options.radio)));
        return open_recording(options, signal);
    }
    if (options.format) throw WrongUsage("--format: a radio has a format of its own");
    const RadioPlan plan = radio_plan(options.radio, {.sample_rate_hz = sample_rate_hz(signal),
                                                      .symbol_rate_hz = signal.symbol_rate_hz,
                                                      .carrier_is_placed = true});
    return writing(
        [&] { return std::make_unique<TxRadio>(options, signal.samples_per_symbol, plan.settings); });
}

}  // namespace tidemill::cli
