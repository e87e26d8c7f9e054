#include "tidemill/apps/transmission/tx_job.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/transmission/tx_frames.hpp"
#include "tidemill/apps/transmission/tx_graph.hpp"
#include "tidemill/apps/transmission/tx_input.hpp"
#include "tidemill/apps/transmission/tx_output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/transport/byte_writer.hpp"
#include "tidemill/options/kinds_option.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/tuning/graph_run.hpp"
#include "tidemill/tuning/profile/profiler.hpp"

namespace tidemill::cli {

namespace {

NamedInput named_stream(const std::string& text) {
    const std::size_t equals = text.find('=');
    std::uint8_t number = 0;
    const char* const end = text.data() + std::min(equals, text.size());
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (equals == std::string::npos || error != std::errc() || stopped != end)
        throw WrongUsage(fmt::format("--stream {}: give NUMBER=INPUT, the number from 0 to 255", text));
    return {text.substr(equals + 1), number, nullptr};
}

// Not opened yet.
std::vector<NamedInput> named_inputs(const TxDataOptions& options) {
    std::vector<NamedInput> inputs;
    if (options.random) {
        if (options.generic_bytes) throw WrongUsage("--random makes transport streams: leave --generic out");
        inputs.push_back({"--random", 0, nullptr});
    } else if (!options.input.empty()) {
        inputs.push_back({options.input, 0, nullptr});
    }
    for (const std::string& text : options.streams) inputs.push_back(named_stream(text));
    if (inputs.empty()) throw WrongUsage("nothing to send: name a transport stream, or give --random N");
    return inputs;
}

// Data that come or go at their own pace need no second core, and would only wait longer; frames of many
// megabytes are better handed to nobody.
RunConfig run_config(RunConfig how, const std::string& output, const std::vector<NamedInput>& inputs,
                     const TxGraph& transmission) {
    constexpr std::size_t kMostBytes = 8 << 20;
    const bool has_pace = has_own_pace(output) || std::ranges::any_of(inputs, [](const NamedInput& each) {
                              return each.input->is_live();
                          });
    if (how.executor == ExecutorKind::automatic && (has_pace || transmission.bytes_of_frame() > kMostBytes))
        how.executor = resolved(how) == ExecutorKind::automatic ? ExecutorKind::sequence : resolved(how);
    return how;
}

/// One transmission.
class TxJob {
  public:
    explicit TxJob(const TxOptions& options)
        : options_(options),
          topology_(topology_by(options.running.kinds)),
          inputs_(named_inputs(options.data)),
          signal_(options.data, options.signal, inputs_),
          output_(open_ends()),
          copy_(open_copy(options.packets_output)),
          transmission_(signal_, inputs_, *output_, copy_ ? &*copy_ : nullptr),
          run_(run_config(options.running.how, options.output.place, inputs_, transmission_), topology_) {}

    TxOutcome run() {
        run_.prepare([this](const ProfileOptions& how) { return profile(how); });
        announce(run_, promised_period(run_));
        WatchedRun watched(options_.running, transmission_.graph());
        watched.ends_with([this] {
            transmission_.frames().end();
            output_->stop();
        });
        go(watched);
        transmission_.finish(*output_);
        writing([&] {
            output_->close();
            if (copy_) copy_->close();
        });
        watched.write(run_);
        return outcome(watched);
    }

  private:
    // Inputs first: where they cannot be sent, nothing has been written.
    std::unique_ptr<TxOutput> open_ends() {
        const TxDataOptions& data = options_.data;
        const dvbs2::InputStream kind = kind_of(data, options_.signal);
        const TxInputOptions how{unit_bytes(kind), kind.sync, data.repeat, data.input_rate_mbps};
        for (NamedInput& each : inputs_)
            each.input =
                data.random ? random_tx_input(*data.random, data.seed, how) : open_tx_input(each.name, how);
        return open_tx_output(options_.output, options_.signal);
    }

    static std::optional<io::ByteWriter> open_copy(const std::string& place) {
        if (place.empty()) return {};
        return writing([&] { return std::optional<io::ByteWriter>(std::in_place, place); });
    }

    // With inputs without end, for what is read of its own is gone.
    Profile profile(const ProfileOptions& how) const {
        TxSignalOptions without_end = options_.signal;
        without_end.most_seconds.reset();
        const dvbs2::InputStream stream = kind_of(options_.data, without_end);
        Profiler profiler(topology_, how);
        for (const CoreKind* const kind : profiler.kinds()) {
            std::vector<NamedInput> endless;
            for (const NamedInput& each : inputs_)
                endless.push_back(
                    {each.name, each.number, endless_tx_input(unit_bytes(stream), stream.sync)});
            TxSignal signal(options_.data, without_end, endless);
            const auto output = forgetful_tx_output(options_.output);
            TxGraph transmission(signal, endless, *output);
            profiler.profile(transmission.graph(), *kind);
        }
        return profiler.profile();
    }

    // Inputs and outputs say themselves what is wrong with them; in which task that was is no help.
    void go(WatchedRun& watched) {
        const RunOptions how{.statistics = options_.stats || options_.json};
        try {
            watched.go(run_, how,
                       [this] { return fmt::format("sent {} frames", transmission_.frames().frames()); });
        } catch (const FrameError& error) {
            std::rethrow_exception(error.cause());
        }
    }

    TxOutcome outcome(const WatchedRun& watched) {
        const dvbs2::MultiplexerCounts counts = signal_.multiplexer.counts();
        TxOutcome sent;
        sent.bytes = transmission_.frames().bytes();
        for (const NamedInput& input : inputs_) {
            sent.bytes_left_out += input.input->bytes_left_out();
            if (const std::string remark = input.input->remark(); !remark.empty())
                sent.remarks.push_back(remark);
        }
        sent.frames = counts.frames;
        sent.dummy_frames = counts.dummy_frames;
        sent.null_packets = counts.null_packets;
        sent.null_packets_deleted = counts.null_packets_deleted;
        sent.bursts = transmission_.frames().bursts();
        sent.samples = output_->samples();
        sent.limited_samples = output_->limited_samples();
        sent.is_live = output_->is_live();
        sent.underflows = output_->underflows();
        sent.duration_s = static_cast<double>(sent.samples) / sample_rate_hz(options_.signal);
        sent.executor = run_.executor();
        sent.account = account_of(run_);
        sent.run = watched.report();
        return sent;
    }

    const TxOptions& options_;
    Topology topology_;
    std::vector<NamedInput> inputs_;
    TxSignal signal_;
    std::unique_ptr<TxOutput> output_;
    std::optional<io::ByteWriter> copy_;
    TxGraph transmission_;
    GraphRun run_;
};

}  // namespace

TxOutcome transmit(const TxOptions& options) {
    return TxJob(options).run();
}

}  // namespace tidemill::cli
