#include <atomic>
#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/borrowed_samples.hpp"
#include "tidemill/dvbs2/receiver/lent_samples.hpp"
#include "tidemill/dvbs2/receiver/pushed_samples.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::dvbs2 {

namespace {

/// A reception that runs; when it is done, nobody takes samples.
class Execution {
  public:
    Execution(Graph& graph, const PushedConfig& config, PushedSource& samples)
        : over_{samples, config.on_end} {
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
        PushedSource& samples;
        std::function<void()> on_end;

        void say() const {
            samples.mark_finished();
            if (on_end) tidemill::internal::thrown_by(on_end);
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

class PushedReceiver::Reception {
  public:
    virtual ~Reception() = default;

    virtual std::size_t push(std::span<const std::byte> samples, bool waits) = 0;
    virtual void end() = 0;
    virtual void stop() = 0;
    virtual bool running() const = 0;
    virtual ReceptionReport finish() = 0;
    virtual ReceptionNow now() const = 0;
};

namespace {

std::unique_ptr<PushedSource> source_of(const PushedConfig& config) {
    if (config.waiting_samples == 0) return std::make_unique<BorrowedSamples>(config);
    return std::make_unique<PushedSamples>(config);
}

class OnThreads final : public PushedReceiver::Reception {
  public:
    OnThreads(const PushedConfig& pushed, const ReceiverConfig& config, RxOutputs outputs,
              Started::OnError on_error)
        : samples_(source_of(pushed)),
          receiver_(*samples_, live(config), std::move(outputs)),
          execution_(receiver_.graph(), pushed, *samples_),
          run_(execution_, {.statistics = false, .observers = pushed.observers, .finish = true},
               std::move(on_error)) {}
    ~OnThreads() override { samples_->cancel(); }

    std::size_t push(std::span<const std::byte> samples, bool waits) override {
        return samples_->push(samples, waits);
    }
    void end() override { samples_->finish(); }
    void stop() override {
        samples_->cancel();
        run_.stop();
    }
    bool running() const override { return run_.running(); }
    ReceptionReport finish() override {
        samples_->finish();
        run_.join();
        return receiver_.report();
    }
    ReceptionNow now() const override { return receiver_.now(); }

  private:
    std::unique_ptr<PushedSource> samples_;
    Receiver receiver_;
    Execution execution_;
    Started run_;
};

/// In order, on the thread that pushes: nobody is woken, and samples are copied once.
class WithinPush final : public PushedReceiver::Reception {
  public:
    WithinPush(const PushedConfig& pushed, const ReceiverConfig& config, RxOutputs outputs,
               Started::OnError on_error)
        : block_bytes_(config.block_samples * dsp::bytes_per_sample(pushed.format)),
          samples_(pushed.format, known_rate(pushed.sample_rate_hz)),
          receiver_(samples_, live(config), std::move(outputs)),
          sequence_(receiver_.graph()),
          observers_(pushed.observers),
          on_error_(std::move(on_error)),
          on_end_(pushed.on_end) {}
    ~WithinPush() override { mark_finished(); }

    std::size_t push(std::span<const std::byte> samples, bool) override {
        if (ended_) throw Dvbs2Error(kBehindTheEnd);
        if (!running()) throw Dvbs2Error(kReceptionIsOver);
        check_whole(samples.size(), dsp::bytes_per_sample(samples_.format()));
        samples_.lend(samples);
        const std::size_t blocks = samples_.waiting() / block_bytes_;
        if (blocks > 0) run({.frames = blocks, .stop = stop_.get_token()});
        samples_.take_back();
        return samples.size();
    }
    void end() override {
        if (ended_) return;
        ended_ = true;
        if (!error_) run({});  // up to the source's end
        mark_finished();
    }
    void stop() override {
        samples_.cancel();
        stop_.request_stop();
    }
    bool running() const override { return !over_ && !samples_.is_cancelled(); }
    ReceptionReport finish() override {
        if (!error_) end();
        if (error_) std::rethrow_exception(error_);
        return receiver_.report();
    }
    ReceptionNow now() const override { return receiver_.now(); }

  private:
    void run(RunOptions options) {
        options.statistics = false;
        options.observers = observers_;
        try {
            std::exchange(begun_, true) ? sequence_.resume(options) : sequence_.run(options);
        } catch (const std::exception& error) {
            error_ = std::current_exception();
            samples_.take_back();
            tell(error);
            mark_finished();
            throw;
        }
    }
    void tell(const std::exception& error) const {
        // Its exception is of no consequence: push() throws the error itself.
        if (on_error_) tidemill::internal::thrown_by([&] { on_error_(error); });
    }
    void mark_finished() {
        if (!over_.exchange(true) && on_end_) tidemill::internal::thrown_by(on_end_);
    }

    std::size_t block_bytes_;
    LentSamples samples_;
    Receiver receiver_;
    Sequence sequence_;
    std::vector<Observer*> observers_;
    Started::OnError on_error_;
    std::function<void()> on_end_;
    std::stop_source stop_{};
    std::exception_ptr error_{};
    std::atomic<bool> over_{false};
    bool begun_ = false;
    bool ended_ = false;
};

std::unique_ptr<PushedReceiver::Reception> reception(const PushedConfig& pushed, const ReceiverConfig& config,
                                                     RxOutputs outputs, Started::OnError on_error) {
    if (pushed.threads == 0)
        return std::make_unique<WithinPush>(pushed, config, std::move(outputs), std::move(on_error));
    return std::make_unique<OnThreads>(pushed, config, std::move(outputs), std::move(on_error));
}

}  // namespace

PushedReceiver::PushedReceiver(const PushedConfig& pushed, const ReceiverConfig& config, RxOutputs outputs,
                               Started::OnError on_error)
    : reception_(reception(pushed, config, std::move(outputs), std::move(on_error))) {}

PushedReceiver::~PushedReceiver() = default;

void PushedReceiver::push(std::span<const std::byte> samples) {
    reception_->push(samples, /*waits=*/true);
}

std::size_t PushedReceiver::try_push(std::span<const std::byte> samples) {
    return reception_->push(samples, /*waits=*/false);
}

void PushedReceiver::end() {
    reception_->end();
}

void PushedReceiver::stop() {
    reception_->stop();
}

bool PushedReceiver::running() const {
    return reception_->running();
}

ReceptionReport PushedReceiver::finish() {
    return reception_->finish();
}

ReceptionNow PushedReceiver::now() const {
    return reception_->now();
}

}  // namespace tidemill::dvbs2
