#include "tidemill/cli/dvbs2/tx_job.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/frame_plan.hpp"
#include "tidemill/cli/dvbs2/tx_input.hpp"
#include "tidemill/cli/dvbs2/tx_output.hpp"
#include "tidemill/cli/output.hpp"
#include "tidemill/cli/watch.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/io/byte_writer.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// An input with the name that errors give it.
struct NamedInput {
    std::string name;
    std::uint8_t number = 0;
    std::unique_ptr<TxInput> input;
    bool drained = false;  // ended, and all of it sent
};

// Whether null packets fill a signal without data; they cannot where they are deleted or mean nothing.
bool fills_with_nulls(const TxOptions& options) {
    return options.idle == Idle::null_packets && !options.generic_bytes && !options.delete_nulls;
}

// Filled with null packets, a stream has the rate of the signal; otherwise only the one who sends it knows
// it.
double packet_period_symbols(const TxOptions& options, std::size_t packet_bytes) {
    if (fills_with_nulls(options)) return 0;
    if (!options.input_rate_mbps) {
        throw WrongUsage(
            "--issy tells when packets come, which nothing says here: give --input-rate, or let null packets "
            "fill "
            "the signal");
    }
    return 8 * static_cast<double>(packet_bytes) * options.symbol_rate_hz / (*options.input_rate_mbps * 1e6);
}

dvbs2::InputStream kind_of(const TxOptions& options) {
    dvbs2::InputStream stream;
    stream.delete_null_packets = options.delete_nulls;
    stream.issy_bytes = options.issy_bytes;
    if (options.generic_bytes) {
        stream.packet_bytes = static_cast<std::size_t>(*options.generic_bytes);
        stream.sync = static_cast<std::uint8_t>(options.sync_byte);
        stream.type = stream.packet_bytes > 0 ? dvbs2::StreamType::generic_packetised
                                              : dvbs2::StreamType::generic_continuous;
    }
    if (stream.issy_bytes > 0) {
        stream.packet_period_symbols = packet_period_symbols(options, stream.packet_bytes);
    }
    return stream;
}

std::size_t unit_bytes(const dvbs2::InputStream& stream) {
    return std::max<std::size_t>(1, stream.packet_bytes);
}

NamedInput open_stream(const std::string& text, const TxInputOptions& options) {
    const std::size_t equals = text.find('=');
    std::uint8_t number = 0;
    const char* const end = text.data() + std::min(equals, text.size());
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (equals == std::string::npos || error != std::errc() || stopped != end) {
        throw WrongUsage(fmt::format("--stream {}: give NUMBER=INPUT, the number from 0 to 255", text));
    }
    const std::string place = text.substr(equals + 1);
    return {place, number, open_tx_input(place, options)};
}

std::vector<NamedInput> open_inputs(const TxOptions& options) {
    const TxInputOptions how{unit_bytes(kind_of(options)), options.repeat, options.input_rate_mbps};
    std::vector<NamedInput> inputs;
    if (options.random) {
        if (options.generic_bytes) throw WrongUsage("--random makes transport streams: leave --generic out");
        inputs.push_back({"--random", 0, random_tx_input(*options.random, options.seed, how)});
    } else if (!options.input.empty()) {
        inputs.push_back({options.input, 0, open_tx_input(options.input, how)});
    }
    for (const std::string& text : options.streams) inputs.push_back(open_stream(text, how));
    if (inputs.empty()) throw WrongUsage("nothing to send: name a transport stream, or give --random N");
    return inputs;
}

dvbs2::MultiplexerConfig config_of(const TxOptions& options, const std::vector<NamedInput>& inputs) {
    dvbs2::MultiplexerConfig config;
    config.gold_code = options.gold_code;
    config.rolloff = options.rolloff;
    config.streams.assign(inputs.size(), kind_of(options));
    for (std::size_t i = 0; i < inputs.size(); ++i) config.streams[i].number = inputs[i].number;
    const dvbs2::Pls usual{options.modcod, options.frame, options.pilots};
    config.plan = options.plan.empty() ? std::vector<dvbs2::PlannedFrame>{{usual, {}}}
                                       : parse_frame_plan(options.plan, usual, config.streams);
    return config;
}

// Settings that a signal cannot have are the command line's fault.
template <class Make>
auto of_settings(Make make) {
    try {
        return make();
    } catch (const dvbs2::Dvbs2Error& error) {
        throw WrongUsage(error.what());
    }
}

/// One transmission, frame by frame.
class TxJob {
  public:
    explicit TxJob(const TxOptions& options)
        : options_(options),
          inputs_(open_inputs(options)),
          multiplexer_(of_settings([&] { return dvbs2::Multiplexer(config_of(options, inputs_)); })),
          shaper_(
              of_settings([&] { return dvbs2::PulseShaper(options.samples_per_symbol, options.rolloff); })),
          unit_bytes_(unit_bytes(kind_of(options))),
          output_(open_tx_output(options)) {
        if (!options.packets_output.empty()) writing([&] { copy_.emplace(options.packets_output); });
    }

    TxOutcome run() {
        {
            Watch watch([this] { return fmt::format("sent {} frames", frames_sent_.load()); });
            const std::stop_callback end_waiting(watch.stop(), [this] {
                for (const NamedInput& each : inputs_) each.input->end();
                output_->stop();
            });
            while (!done() && !watch.interrupted()) send_one(watch);
        }
        writing([&] {
            if (frames_of_burst_ > 0) output_->write(shaper_.finish());
            output_->close();
            if (copy_) copy_->close();
        });
        return outcome();
    }

  private:
    double signal_s() const { return static_cast<double>(symbols_sent_) / options_.symbol_rate_hz; }

    bool done() const {
        const bool time_is_up = options_.most_seconds && signal_s() >= *options_.most_seconds;
        return time_is_up || std::ranges::all_of(inputs_, &NamedInput::drained);
    }

    void send_one(Watch& watch) {
        if (options_.burst_frames > 0 && frames_of_burst_ == options_.burst_frames) rest();
        const auto stream = multiplexer_.next_stream();
        if (stream) {
            NamedInput& input = inputs_[*stream];
            if (input.input->is_live() && !output_->is_live()) wait_for_signal(watch);
            feed(*stream, input);
            make_frame(input);
        } else {
            multiplexer_.send(symbols_);
        }
        symbols_sent_ += symbols_.size();
        ++frames_of_burst_;
        give(shaper_.process(symbols_));
        symbols_.clear();
        frames_sent_ = multiplexer_.counts().frames;
    }

    void give(std::span<const dsp::Iq> samples) {
        samples_given_ += samples.size();
        writing([&] { output_->write(samples); });
    }

    // Silence until the next burst is due, by the samples alone: so bursts lie where they should, however
    // long it lasts.
    void rest() {
        give(shaper_.finish());
        shaper_ = dvbs2::PulseShaper(options_.samples_per_symbol, options_.rolloff);
        const double every = options_.burst_every_s * sample_rate_hz(options_);
        const auto due = static_cast<std::uint64_t>(std::llround(static_cast<double>(++bursts_) * every));
        if (due < samples_given_)
            throw WrongUsage(
                fmt::format("--burst-every: {} frames last longer than {} s: send fewer, or less often",
                            options_.burst_frames, options_.burst_every_s));
        const std::uint64_t silence = due - samples_given_;
        writing([&] { output_->rest(silence); });
        samples_given_ = due;
        symbols_sent_ = due / static_cast<std::uint64_t>(options_.samples_per_symbol);
        frames_of_burst_ = 0;
    }

    // What is sent of a live input must have had the time to come.
    void wait_for_signal(Watch& watch) const {
        constexpr double kLongS = 1e9;
        const std::chrono::duration<double> lasted(std::min(signal_s(), kLongS));
        watch.sleep_until(start_ + std::chrono::duration_cast<Clock::duration>(lasted));
    }

    // Takes what fills the frame, as far as it is there; of null packets that are deleted, any number.
    void feed(std::size_t stream, NamedInput& input) {
        while (multiplexer_.missing_bytes() > 0) {
            const std::size_t units = (multiplexer_.missing_bytes() + unit_bytes_ - 1) / unit_bytes_;
            const auto bytes = input.input->take(units * unit_bytes_, signal_s());
            if (bytes.empty()) return;
            feed(stream, input.name, bytes);
        }
    }

    void feed(std::size_t stream, const std::string& name, std::span<const std::uint8_t> bytes) {
        try {
            multiplexer_.feed(stream, bytes);
        } catch (const dvbs2::Dvbs2Error& error) {
            throw io::IoError(
                fmt::format("'{}' cannot be sent: {}, behind {} bytes", name, error.what(), bytes_taken_));
        }
        bytes_taken_ += bytes.size();
        if (copy_) writing([&] { copy_->write(bytes); });
    }

    void make_frame(NamedInput& input) {
        if (multiplexer_.send(symbols_)) return;
        if (input.input->ended()) {
            if (multiplexer_.send_padded(symbols_)) return;
            input.drained = true;
            multiplexer_.skip();
        } else if (fills_with_nulls(options_)) {
            multiplexer_.send_with_null_packets(symbols_);
        } else {
            multiplexer_.send_dummy(symbols_);
        }
    }

    TxOutcome outcome() const {
        const dvbs2::MultiplexerCounts counts = multiplexer_.counts();
        TxOutcome sent;
        sent.bytes = bytes_taken_;
        for (const NamedInput& input : inputs_) sent.bytes_left_out += input.input->bytes_left_out();
        sent.frames = counts.frames;
        sent.dummy_frames = counts.dummy_frames;
        sent.null_packets = counts.null_packets;
        sent.null_packets_deleted = counts.null_packets_deleted;
        sent.bursts = bursts_;
        sent.samples = output_->samples();
        sent.limited_samples = output_->limited_samples();
        sent.is_live = output_->is_live();
        sent.underflows = output_->underflows();
        sent.duration_s = static_cast<double>(sent.samples) / sample_rate_hz(options_);
        return sent;
    }

    const TxOptions& options_;
    std::vector<NamedInput> inputs_;
    dvbs2::Multiplexer multiplexer_;
    dvbs2::PulseShaper shaper_;
    std::size_t unit_bytes_;
    std::unique_ptr<TxOutput> output_;
    std::optional<io::ByteWriter> copy_;
    std::vector<dsp::Iq> symbols_;
    std::uint64_t symbols_sent_ = 0;  // or silent
    std::uint64_t samples_given_ = 0;
    std::uint64_t frames_of_burst_ = 0, bursts_ = 0;
    std::uint64_t bytes_taken_ = 0;
    std::atomic<std::uint64_t> frames_sent_{0};  // for the progress line, which another thread shows
    Clock::time_point start_ = Clock::now();
};

}  // namespace

TxOutcome transmit(const TxOptions& options) {
    return TxJob(options).run();
}

}  // namespace tidemill::cli
