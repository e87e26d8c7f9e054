#include "tidemill/cli/dvbs2/ldpc_batch_cost.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include "tidemill/cli/bench/runs.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/run/sequence.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kDifferentFrames = 128;

/// An LDPC frame, and where it is decoded to.
struct KeptFrame {
    const fec::Dvbs2Code* code;
    std::vector<fec::Llr> llrs;
    std::vector<std::uint8_t> information;
    fec::LdpcResult result{};
};

/// Copies what comes to the LDPC decoder of a run in order.
class KeptFrames final : public Observer, private ThreadObserver {
  public:
    ThreadObserver& watch(const ObservedThread&) override { return *this; }

    bool full() const { return frames_.size() == kDifferentFrames; }
    std::vector<KeptFrame>& frames() { return frames_; }

  private:
    void called(const ObservedCall& call) override {
        const auto* ldpc = dynamic_cast<const dvbs2::RxLdpc*>(&call.module);
        if (!ldpc || full()) return;
        const fec::Dvbs2Code* code = dvbs2::code_of(call.frame[ldpc->info].pls);
        if (!code) return;
        const auto llrs = call.frame[ldpc->llrs].first(static_cast<std::size_t>(code->n));
        frames_.push_back({code,
                           {llrs.begin(), llrs.end()},
                           std::vector<std::uint8_t>(static_cast<std::size_t>(code->k_ldpc) / 8)});
    }

    std::vector<KeptFrame> frames_;
};

std::vector<KeptFrame> first_frames(const ReceptionJob& job) {
    const std::unique_ptr<io::SampleSource> source = open_preview(job);
    dvbs2::Receiver receiver(*source, job.config, [](auto) {});
    KeptFrames kept;
    Sequence(receiver.graph()).run({.stop_when = [&] { return kept.full(); }, .observers = {&kept}});
    return std::move(kept.frames());
}

double core_us() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

/// What a batch of a size takes: medians.
struct BatchTimes {
    double frames;
    double batch_us;
    double core_us;  ///< of the thread that sends it and waits
};

BatchTimes times_of(dvbs2::DeviceLdpcCodes& codes, std::vector<KeptFrame>& kept, std::size_t size) {
    std::vector<dvbs2::LdpcFrame> frames;
    for (std::size_t i = 0; i < size; ++i) {
        KeptFrame& frame = kept[i % kept.size()];
        frames.push_back({frame.code, frame.llrs, frame.information, &frame.result});
    }
    codes.decode(frames);  // makes what is made at first need
    std::vector<double> batch, core;
    for (int run = 0; run < kRuns; ++run) {
        const double core_before_us = core_us();
        const auto begin = Clock::now();
        codes.decode(frames);
        batch.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
        core.push_back(core_us() - core_before_us);
    }
    return {static_cast<double>(size), median(batch), median(core)};
}

// The line of least squares, but neither part below 0.
BatchCost line_through(const std::vector<BatchTimes>& times) {
    double frames = 0, us = 0;
    for (const BatchTimes& each : times) {
        frames += each.frames / static_cast<double>(times.size());
        us += each.batch_us / static_cast<double>(times.size());
    }
    double across = 0, along = 0;
    for (const BatchTimes& each : times) {
        across += (each.frames - frames) * (each.batch_us - us);
        along += (each.frames - frames) * (each.frames - frames);
    }
    const double slope = along > 0 ? across / along : us / frames;
    BatchCost cost;
    cost.frame_us = std::clamp(slope, 0.0, us / frames);
    cost.batch_us = std::max(0.0, us - cost.frame_us * frames);  // or a rounding step below
    cost.host_us = times.back().core_us / times.back().frames;
    cost.most_frames = static_cast<int>(times.back().frames);
    return cost;
}

}  // namespace

std::optional<BatchCost> ldpc_batch_cost(const ReceptionJob& job, const dvbs2::LdpcOnDevice& device,
                                         double frames_per_block) {
    constexpr double kLongestUs = 200'000;  // of one batch: larger ones would take too long
    std::vector<KeptFrame> kept = first_frames(job);
    if (kept.empty()) return {};
    dvbs2::DeviceLdpcCodes codes(device, fec::LdpcSettings{});
    std::vector<BatchTimes> times;
    for (const std::size_t size : {8, 32, 128}) {
        if (size > device.most_frames || (!times.empty() && times.back().batch_us > kLongestUs / 4)) break;
        times.push_back(times_of(codes, kept, size));
    }
    BatchCost cost = line_through(times);
    cost.kind = device.device->info().kind;
    cost.frames = frames_per_block;
    return cost;
}

}  // namespace tidemill::cli
