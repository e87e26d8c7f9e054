// The loopback as a module of SoapySDR, which finds it by the name of its file's folder.
#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include <SoapySDR/Device.hpp>
#include <SoapySDR/Formats.hpp>
#include <SoapySDR/Registry.hpp>
#include <fmt/format.h>

#include "tidemill/io/live/quantize.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/loopback/loopback_sender.hpp"

namespace tidemill::loopback {

namespace {

using dsp::SampleFormat;

constexpr std::array<std::pair<const char*, SampleFormat>, 4> kFormats{{{SOAPY_SDR_CF32, SampleFormat::cf32},
                                                                        {SOAPY_SDR_CS16, SampleFormat::ci16},
                                                                        {SOAPY_SDR_CS8, SampleFormat::ci8},
                                                                        {SOAPY_SDR_CU8, SampleFormat::cu8}}};

SampleFormat format_called(const std::string& name) {
    const auto found = std::ranges::find_if(kFormats, [&](const auto& each) { return name == each.first; });
    if (found == kFormats.end()) throw LoopbackError(name + " is no format of the loopback");
    return found->second;
}

int error_number(const ReadOutcome& outcome) {
    switch (outcome.happened) {
        case Happened::samples:
            return static_cast<int>(outcome.samples);
        case Happened::timeout:
            return SOAPY_SDR_TIMEOUT;
        case Happened::overflow:
            return SOAPY_SDR_OVERFLOW;
        case Happened::underflow:
            return SOAPY_SDR_UNDERFLOW;
        case Happened::gone:
            return SOAPY_SDR_STREAM_ERROR;
    }
    return SOAPY_SDR_STREAM_ERROR;
}

/// When the streams of a device began that was unplugged since: it comes back where the clock on the wall is.
class Sessions {
  public:
    std::int64_t begin(const std::string& device, std::int64_t now_ns) {
        const std::lock_guard lock(mutex_);
        return begun_.try_emplace(device, now_ns).first->second;
    }
    std::optional<std::int64_t> find(const std::string& device) {
        const std::lock_guard lock(mutex_);
        const auto found = begun_.find(device);
        return found == begun_.end() ? std::nullopt : std::optional(found->second);
    }
    void end(const std::string& device) {
        const std::lock_guard lock(mutex_);
        begun_.erase(device);
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::int64_t> begun_;
};

Sessions sessions;

bool unplugged_at(const LoopbackOptions& options, std::int64_t ns) {
    return std::ranges::any_of(
        options.unplugged, [&](const Stretch& each) { return each.holds(static_cast<double>(ns) * 1e-9); });
}

/// One direction of the device, and the handle of its stream.
struct Direction {
    double frequency_hz = 100e6;
    SampleFormat format = SampleFormat::cf32;
    bool is_active = false;
};

class LoopbackDevice final : public SoapySDR::Device {
  public:
    explicit LoopbackDevice(const SoapySDR::Kwargs& arguments)
        : name_(SoapySDR::KwargsToString(arguments)), options_(parse_loopback(arguments)) {
        const auto begun = sessions.find(name_);
        if (begun && unplugged_at(options_, clock_.now_ns() - *begun))
            throw LoopbackError("the loopback is unplugged");
        if (options_.file.empty()) return;
        recording_ = io::open_recording(options_.file);
        if (recording_->sample_rate_hz) rate_hz_ = *recording_->sample_rate_hz;
    }

    ~LoopbackDevice() override {
        const auto begun = sessions.find(name_);
        if (begun && !unplugged_at(options_, clock_.now_ns() - *begun)) sessions.end(name_);
    }

    std::string getDriverKey() const override { return "loopback"; }
    std::string getHardwareKey() const override { return "loopback"; }
    std::size_t getNumChannels(int direction) const override {
        return direction == SOAPY_SDR_RX || !recording_ ? 1 : 0;
    }
    bool getFullDuplex(int, std::size_t) const override { return true; }

    std::vector<std::string> listAntennas(int, std::size_t) const override { return {"LOOP"}; }
    std::string getAntenna(int, std::size_t) const override { return "LOOP"; }

    std::vector<std::string> listFrequencies(int, std::size_t) const override { return {"RF"}; }
    SoapySDR::RangeList getFrequencyRange(int, std::size_t) const override { return {{0, 100e9}}; }
    SoapySDR::RangeList getFrequencyRange(int, std::size_t, const std::string&) const override {
        return {{0, 100e9}};
    }
    double getFrequency(int direction, std::size_t) const override { return way(direction).frequency_hz; }
    double getFrequency(int direction, std::size_t, const std::string&) const override {
        return way(direction).frequency_hz;
    }
    void setFrequency(int direction, std::size_t, double hz, const SoapySDR::Kwargs&) override {
        way(direction).frequency_hz = hz;
        if (direction == SOAPY_SDR_TX && sends_.is_active) air_to_send_->begin_to_send(hz);
    }
    void setFrequency(int direction, std::size_t channel, const std::string&, double hz,
                      const SoapySDR::Kwargs& arguments) override {
        setFrequency(direction, channel, hz, arguments);
    }

    SoapySDR::RangeList getSampleRateRange(int, std::size_t) const override {
        if (recording_ && recording_->sample_rate_hz) return {{rate_hz_, rate_hz_}};
        return {{1e3, 100e6}};
    }
    double getSampleRate(int, std::size_t) const override { return rate_hz_; }
    void setSampleRate(int, std::size_t, double hz) override {
        if (!recording_ || !recording_->sample_rate_hz) rate_hz_ = hz;
        if (rate_hz_ != hz)
            throw LoopbackError(fmt::format("the recording has {} samples per second", rate_hz_));
    }

    std::vector<std::string> getStreamFormats(int, std::size_t) const override {
        std::vector<std::string> names;
        for (const auto& [name, format] : kFormats) names.emplace_back(name);
        return names;
    }
    std::string getNativeStreamFormat(int, std::size_t, double& full_scale) const override {
        const SampleFormat native = recording_ ? recording_->format : SampleFormat::cf32;
        const auto found =
            std::ranges::find_if(kFormats, [&](const auto& each) { return each.second == native; });
        full_scale = native == SampleFormat::ci16 ? 32768 : native == SampleFormat::cf32 ? 1 : 128;
        return found == kFormats.end() ? SOAPY_SDR_CF32 : found->first;
    }

    SoapySDR::Stream* setupStream(int direction, const std::string& format,
                                  const std::vector<std::size_t>& channels,
                                  const SoapySDR::Kwargs&) override {
        if (channels.size() > 1 || (channels.size() == 1 && channels[0] != 0))
            throw LoopbackError("the loopback has channel 0 alone");
        way(direction).format = format_called(format);
        return reinterpret_cast<SoapySDR::Stream*>(&way(direction));
    }
    void closeStream(SoapySDR::Stream* stream) override { deactivateStream(stream, 0, 0); }
    std::size_t getStreamMTU(SoapySDR::Stream*) const override { return 4096; }

    int activateStream(SoapySDR::Stream* stream, int, long long, std::size_t) override {
        return is_receiving(stream) ? begin_to_receive() : begin_to_send();
    }
    int deactivateStream(SoapySDR::Stream* stream, int, long long) override {
        if (is_receiving(stream)) {
            receiver_.reset();
            air_to_hear_.reset();
            receives_.is_active = false;
        } else {
            sender_.reset();
            air_to_send_.reset();
            sends_.is_active = false;
        }
        return 0;
    }

    int readStream(SoapySDR::Stream*, void* const* buffers, std::size_t samples, int& flags,
                   long long& time_ns, long timeout_us) override {
        if (!receiver_) return SOAPY_SDR_STREAM_ERROR;
        if (shift_hz() != shift_hz_) receiver_->go_on_with(feed(receiver_->next()));
        const std::size_t size = dsp::bytes_per_sample(receives_.format);
        const ReadOutcome outcome =
            receiver_->read({static_cast<std::byte*>(buffers[0]), samples * size}, timeout_us * 1000);
        flags = options_.has_times && outcome.happened == Happened::samples ? SOAPY_SDR_HAS_TIME : 0;
        time_ns = outcome.time_ns;
        return error_number(outcome);
    }

    int writeStream(SoapySDR::Stream*, const void* const* buffers, std::size_t samples, int& flags, long long,
                    long timeout_us) override {
        if (!sender_) return SOAPY_SDR_STREAM_ERROR;
        const std::size_t size = dsp::bytes_per_sample(sends_.format);
        to_send_.resize(samples);
        dsp::convert_samples(sends_.format, {static_cast<const std::byte*>(buffers[0]), samples * size},
                             to_send_);
        return error_number(sender_->write(to_send_, (flags & SOAPY_SDR_END_BURST) != 0, timeout_us * 1000));
    }

    int readStreamStatus(SoapySDR::Stream* stream, std::size_t&, int& flags, long long& time_ns,
                         long timeout_us) override {
        if (is_receiving(stream) || !sender_) return SOAPY_SDR_NOT_SUPPORTED;
        ReadOutcome outcome = sender_->status();
        if (outcome.happened == Happened::timeout && timeout_us > 0) {
            clock_.wait_ns(timeout_us * 1000);
            outcome = sender_->status();
        }
        flags = outcome.happened == Happened::underflow ? SOAPY_SDR_HAS_TIME : 0;
        time_ns = outcome.time_ns;
        return error_number(outcome);
    }

    bool hasHardwareTime(const std::string& what) const override {
        return what.empty() && options_.has_times;
    }
    long long getHardwareTime(const std::string&) const override {
        const auto begun = sessions.find(name_);
        return begun ? clock_.now_ns() - *begun : 0;
    }

  private:
    Direction& way(int direction) { return direction == SOAPY_SDR_RX ? receives_ : sends_; }
    const Direction& way(int direction) const { return direction == SOAPY_SDR_RX ? receives_ : sends_; }
    bool is_receiving(SoapySDR::Stream* stream) const {
        return reinterpret_cast<Direction*>(stream) == &receives_;
    }

    AirConfig air_config() const {
        return {.name = options_.air,
                .sample_rate_hz = rate_hz_,
                .fast = options_.fast,
                .now_ns = clock_.now_ns()};
    }

    int begin_to_receive() {
        if (!recording_) air_to_hear_ = std::make_unique<SharedAir>(air_config());
        const std::int64_t begun_ns = sessions.begin(name_, clock_.now_ns());
        const std::int64_t epoch_ns = air_to_hear_ ? air_to_hear_->epoch_ns() : begun_ns;
        receiver_ = std::make_unique<LoopbackReceiver>(options_,
                                                       LoopbackReceiver::Timing{rate_hz_, epoch_ns, begun_ns},
                                                       nullptr, clock_, air_to_hear_.get());
        receiver_->go_on_with(feed(receiver_->next()));
        receives_.is_active = true;
        return 0;
    }

    int begin_to_send() {
        air_to_send_ = std::make_unique<SharedAir>(air_config());
        air_to_send_->begin_to_send(sends_.frequency_hz);
        sender_ = std::make_unique<LoopbackSender>(options_, rate_hz_, *air_to_send_, clock_);
        sends_.is_active = true;
        return 0;
    }

    // From the receiver's frequency to the sender's, or the recording's; 0 where one of them is not known.
    double shift_hz() const {
        const double sent_hz =
            recording_ ? recording_->center_frequency_hz.value_or(0) : air_to_hear_->sent_frequency_hz();
        return sent_hz > 0 ? sent_hz - receives_.frequency_hz : 0;
    }

    // Signals beyond the band are not heard.
    std::unique_ptr<SampleFeed> source(bool is_heard) const {
        if (!is_heard) return std::make_unique<SilentFeed>();
        if (recording_) return std::make_unique<RecordingFeed>(*recording_, options_.repeat);
        return std::make_unique<AirFeed>(*air_to_hear_);
    }

    std::unique_ptr<SampleFeed> feed(std::uint64_t first) {
        shift_hz_ = shift_hz();
        const double offset_hz = options_.channel.offset_hz + shift_hz_;
        const bool is_heard = std::abs(offset_hz) < rate_hz_ / 2;
        auto feed = source(is_heard);
        if (!options_.channel.is_plain || (is_heard && shift_hz_ != 0))
            feed = std::make_unique<ChannelFeed>(
                std::move(feed), channel_at(options_.channel, rate_hz_, is_heard ? offset_hz : 0),
                options_.channel.level_dbfs, first);
        if (feed->format() != receives_.format)
            feed = std::make_unique<ConvertedFeed>(std::move(feed), receives_.format);
        return feed;
    }

    std::string name_;
    LoopbackOptions options_;
    mutable io::LiveClock clock_;
    std::optional<io::Recording> recording_;
    double rate_hz_ = 1e6;
    Direction receives_, sends_;
    std::unique_ptr<SharedAir> air_to_hear_, air_to_send_;
    std::unique_ptr<LoopbackReceiver> receiver_;
    std::unique_ptr<LoopbackSender> sender_;
    double shift_hz_ = 0;
    std::vector<dsp::Iq> to_send_;
};

SoapySDR::KwargsList find_loopback(const SoapySDR::Kwargs& wanted) {
    SoapySDR::Kwargs found = wanted;
    found["driver"] = "loopback";
    found["label"] = "Tidemill loopback (a channel, no antenna)";
    return {found};
}

SoapySDR::Device* make_loopback(const SoapySDR::Kwargs& arguments) {
    return new LoopbackDevice(arguments);
}

const SoapySDR::Registry registered("loopback", &find_loopback, &make_loopback, SOAPY_SDR_ABI_VERSION);

}  // namespace

}  // namespace tidemill::loopback
