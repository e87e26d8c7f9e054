#include "tidemill/lab/programs/increment_chain.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "tidemill/machine/affinity.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill {

namespace {

using IncrementClock = std::chrono::steady_clock;

constexpr std::size_t kMostStages = 16;      // as in the published experiment
constexpr std::uint64_t kWarmUpFrames = 40;  // more than there are tokens
constexpr std::size_t kMeasuredBytes = std::size_t{32} << 20U;

/// Zeros at the beginning of the chain.
class Zeros : public Module {
  public:
    explicit Zeros(std::size_t bytes) : buffer(out<std::uint32_t>("buffer", bytes / 4)) {
        task("clear", &Zeros::clear);
    }
    Out<std::uint32_t> buffer;

  private:
    void clear(Frame f) { std::ranges::fill(f[buffer], 0u); }
};

/// A streaming increment: every word of the buffer plus one, in place.
class Increment : public Module {
  public:
    explicit Increment(std::size_t bytes) : buffer(forward<std::uint32_t>("buffer", bytes / 4)) {
        task("add_one", &Increment::add_one);
    }
    Forward<std::uint32_t> buffer;
    std::uint32_t last = 0;
    IncrementClock::time_point warm{};

  private:
    void add_one(Frame f) {
        for (std::uint32_t& word : f[buffer]) ++word;
        last = f[buffer].back();
        if (f.number() + 1 == kWarmUpFrames) warm = IncrementClock::now();
    }
};

}  // namespace

class IncrementChain::Parts {
  public:
    Parts(std::size_t bytes, const Topology& topology)
        : bytes_(bytes),
          topology_(topology),
          stages_(std::clamp<std::size_t>(topology.cores.size(), 2, kMostStages)) {
        auto& zeros = graph_.add<Zeros>(bytes);
        SocketRef last = zeros.buffer;
        for (std::size_t s = 1; s < stages_; ++s) {
            last_ = &graph_.add<Increment>(bytes);
            graph_.bind(last, last_->buffer);
            last = last_->buffer;
        }
    }

    std::size_t stages() const { return stages_; }
    std::size_t token_bytes() const { return token_bytes_; }

    double frame_ns(std::optional<Pinning> pinning) {
        const std::uint64_t frames = std::max<std::uint64_t>(10, kMeasuredBytes / bytes_);
        const RunOptions options{.frames = kWarmUpFrames + frames, .statistics = false};
        if (pinning) {
            const PipelineOptions active{.topology = &topology_, .waiting = WaitMode::active};
            token_bytes_ = Pipeline(graph_, schedule(*pinning), active).run(options).token_bytes();
        } else {
            const PinGuard pinned(topology_.cores[0].pus);
            Sequence(graph_).run(options);
        }
        const std::chrono::duration<double, std::nano> elapsed = IncrementClock::now() - last_->warm;
        if (last_->last != stages_ - 1) throw std::logic_error("an increment is missing");
        return elapsed.count() / static_cast<double>(frames);
    }

  private:
    Schedule schedule(Pinning pinning) const {
        Schedule schedule;
        for (std::size_t s = 0; s < stages_; ++s) {
            Stage& stage = schedule.stages.emplace_back();
            stage.first_task = s;
            stage.task_count = 1;
            stage.core_kind = topology_.kinds.front().name;
            stage.pinning = pinning;
            if (s + 1 < stages_) stage.sync_buff_size = 1;
        }
        return schedule;
    }

    std::size_t bytes_;
    const Topology& topology_;
    std::size_t stages_;
    std::size_t token_bytes_ = 0;
    Graph graph_;
    Increment* last_ = nullptr;
};

IncrementChain::IncrementChain(std::size_t bytes, const Topology& topology)
    : parts_(std::make_unique<Parts>(bytes, topology)) {}

IncrementChain::~IncrementChain() = default;

std::size_t IncrementChain::stages() const {
    return parts_->stages();
}

std::size_t IncrementChain::token_bytes() const {
    return parts_->token_bytes();
}

double IncrementChain::frame_ns(std::optional<Pinning> pinning) {
    return parts_->frame_ns(pinning);
}

}  // namespace tidemill
