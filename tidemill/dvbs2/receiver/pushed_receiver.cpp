#include <optional>
#include <variant>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/pushed_samples.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/sequence.hpp"

namespace tidemill::dvbs2 {

namespace {

/// Whoever receives; when it is done, nobody takes samples.
class Execution {
  public:
    Execution(Graph& graph, const PushedConfig& config, PushedSamples& samples)
        : over_{samples, config.on_end} {
        if (config.threads == 0) throw Dvbs2Error("a receiver with 0 threads: give it one, or more");
        if (config.threads == 1) {
            in_order_.emplace(graph);
        } else {
            shared_out_.emplace(graph,
                                DynamicOptions{.workers = config.threads, .waiting = WaitMode::passive});
        }
    }

    RunReport run(const RunOptions& options) {
        const std::unique_ptr<Over, void (*)(Over*)> at_the_end(&over_, [](Over* over) { over->say(); });
        return in_order_ ? in_order_->run(options) : shared_out_->run(options);
    }

  private:
    struct Over {
        PushedSamples& samples;
        std::function<void()> on_end;

        void say() const {
            samples.say_over();
            if (on_end) on_end();
        }
    };

    Over over_;
    std::optional<Sequence> in_order_{};
    std::optional<Dynamic> shared_out_{};
};

ReceiverConfig live(ReceiverConfig config) {
    config.live = true;
    return config;
}

}  // namespace

struct PushedReceiver::Parts {
    PushedSamples samples;
    Receiver receiver;
    Execution execution;
    Started run;

    Parts(const PushedConfig& pushed, const ReceiverConfig& config, RxOutputs outputs,
          Started::OnError on_error)
        : samples(pushed),
          receiver(samples, live(config), std::move(outputs)),
          execution(receiver.graph(), pushed, samples),
          run(execution, {.statistics = false, .observers = pushed.observers, .finish = true},
              std::move(on_error)) {}
    ~Parts() { samples.cancel(); }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
};

PushedReceiver::PushedReceiver(const PushedConfig& pushed, const ReceiverConfig& config, RxOutputs outputs,
                               Started::OnError on_error)
    : parts_(std::make_unique<Parts>(pushed, config, std::move(outputs), std::move(on_error))) {}

PushedReceiver::~PushedReceiver() = default;

void PushedReceiver::push(std::span<const std::byte> samples) {
    parts_->samples.push(samples, /*waits=*/true);
}

std::size_t PushedReceiver::try_push(std::span<const std::byte> samples) {
    return parts_->samples.push(samples, /*waits=*/false);
}

void PushedReceiver::end() {
    parts_->samples.finish();
}

void PushedReceiver::stop() {
    parts_->samples.cancel();
    parts_->run.stop();
}

bool PushedReceiver::running() const {
    return parts_->run.running();
}

ReceptionReport PushedReceiver::finish() {
    parts_->samples.finish();
    parts_->run.join();
    return parts_->receiver.report();
}

ReceptionNow PushedReceiver::now() const {
    return parts_->receiver.now();
}

}  // namespace tidemill::dvbs2
