#include "tidemill/apps/transmission/tx_graph.hpp"

#include <optional>
#include <span>
#include <utility>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/transmission/frame_plan.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::cli {

namespace {

using dvbs2::TxFrame;

// Behind a rest those of the frame before come first.
template <class Write>
void write_with_rest(TxOutput& output, const TxFrame& about, std::size_t tail, Write write) {
    writing([&] {
        if (about.behind_rest == 0) return write(std::size_t{0});
        write(std::size_t{0}, tail);
        output.rest(about.rest_samples);
        write(tail);
    });
}

/// Writes samples as they are.
class TxSink final : public Module {
    const bool may_wait_;
    const std::size_t most_;

  public:
    TxSink(TxOutput& output, std::size_t most_samples, std::size_t tail_samples)
        : Module("sink"),
          may_wait_(output.may_wait()),
          most_(most_samples),
          output_(output),
          tail_(tail_samples) {}

    InUpTo<dsp::Iq> samples = in<dsp::Iq>("samples", upto(most_));
    Label<const TxFrame> about = label<const TxFrame>("about");
    Task write = task("write", &TxSink::write_frame, TaskOptions{.may_wait = may_wait_});

  private:
    void write_frame(Frame f) {
        const std::span<const dsp::Iq> all = f[samples];
        write_with_rest(output_, f[about], tail_,
                        [&](std::size_t from, std::size_t count = std::dynamic_extent) {
                            output_.write(all.subspan(from, count));
                        });
    }

    TxOutput& output_;
    std::size_t tail_;
};

/// Writes samples that have been rounded.
class TxRoundedSink final : public Module {
    const bool may_wait_;
    const std::size_t most_;

  public:
    TxRoundedSink(TxOutput& output, std::size_t most_samples, std::size_t tail_samples)
        : Module("sink"),
          may_wait_(output.may_wait()),
          most_(most_samples * dsp::bytes_per_sample(output.rounding()->format)),
          output_(output),
          tail_(tail_samples * dsp::bytes_per_sample(output.rounding()->format)) {}

    InUpTo<std::uint8_t> stored = in<std::uint8_t>("stored", upto(most_));
    In<std::uint64_t> limited = in<std::uint64_t>("limited");
    Label<const TxFrame> about = label<const TxFrame>("about");
    Task write = task("write", &TxRoundedSink::write_frame, TaskOptions{.may_wait = may_wait_});

  private:
    void write_frame(Frame f) {
        const auto all = std::as_bytes(f[stored]);
        std::uint64_t left = f[limited][0];
        write_with_rest(output_, f[about], tail_,
                        [&](std::size_t from, std::size_t count = std::dynamic_extent) {
                            output_.write_rounded(all.subspan(from, count), std::exchange(left, 0));
                        });
    }

    TxOutput& output_;
    std::size_t tail_;
};

// Settings that a signal cannot have are the command line's fault.
template <class Make>
auto of_settings(Make make) {
    try {
        return make();
    } catch (const dvbs2::Dvbs2Error& error) {
        throw WrongUsage(error.what());
    }
}

dvbs2::MultiplexerConfig config_of(const TxDataOptions& data, const TxSignalOptions& options,
                                   const std::vector<NamedInput>& inputs) {
    dvbs2::MultiplexerConfig config;
    config.gold_code = options.gold_code;
    config.rolloff = options.rolloff;
    config.streams.assign(inputs.size(), kind_of(data, options));
    for (std::size_t i = 0; i < inputs.size(); ++i) config.streams[i].number = inputs[i].number;
    const dvbs2::Pls usual{options.modcod, options.frame, options.pilots};
    config.plan = options.plan.empty() ? std::vector<dvbs2::PlannedFrame>{{usual, {}}}
                                       : parse_frame_plan(options.plan, usual, config.streams);
    return config;
}

}  // namespace

TxSignal::TxSignal(const TxDataOptions& its_data, const TxSignalOptions& its_options,
                   const std::vector<NamedInput>& inputs)
    : data(its_data),
      options(its_options),
      multiplexer(of_settings([&] { return dvbs2::Multiplexer(config_of(data, options, inputs)); })),
      shaper(of_settings([&] { return dvbs2::PulseShaper(options.samples_per_symbol, options.rolloff); })) {}

TxGraph::TxGraph(TxSignal& signal, std::vector<NamedInput>& inputs, TxOutput& output, io::ByteWriter* copy)
    : shaper_(signal.shaper) {
    const std::size_t tail = shaper_.history() * shaper_.samples_per_symbol();
    frames_ = &graph_.add<TxFrames>(TxFraming{.signal = signal,
                                              .inputs = inputs,
                                              .tail_samples = tail,
                                              .waits_for_signal = !output.is_live(),
                                              .copy = copy});
    const dvbs2::TxStages stages(graph_, signal.multiplexer, shaper_, output.rounding());
    tails_ = &stages.tails;
    most_samples_ = stages.most_samples;
    graph_.bind(frames_->bbframe, stages.modulator.bbframe);
    if (stages.pulse != nullptr) {
        auto& sink = graph_.add<TxSink>(output, most_samples_, tail);
        graph_.bind(stages.pulse->samples, sink.samples);
        return;
    }
    auto& sink = graph_.add<TxRoundedSink>(output, most_samples_, tail);
    graph_.bind(stages.byte_pulse->stored, sink.stored);
    graph_.bind(stages.byte_pulse->limited, sink.limited);
}

std::size_t TxGraph::bytes_of_frame() const {
    return most_samples_ * sizeof(dsp::Iq);
}

void TxGraph::finish(TxOutput& output) {
    if (!frames_->is_in_burst()) return;
    const std::vector<dsp::Iq> silence(shaper_.history());
    std::vector<dsp::Iq> samples(silence.size() * shaper_.samples_per_symbol());
    shaper_.shape(tails_->last(), silence, samples);
    writing([&] { output.write(samples); });
}

}  // namespace tidemill::cli
