#include "tidemill/cli/dvbs2/ldpc_batch_cost.hpp"

#include <vector>

#include "tidemill/cli/bench/runs.hpp"
#include "tidemill/dvbs2/device/device_ldpc_times.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/run/sequence.hpp"

namespace tidemill::cli {

namespace {

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

BatchTimes times_of(dvbs2::DeviceLdpcCodes& codes, std::vector<KeptFrame>& kept, std::size_t size) {
    std::vector<dvbs2::LdpcFrame> frames;
    for (std::size_t i = 0; i < size; ++i) {
        KeptFrame& frame = kept[i % kept.size()];
        frames.push_back({frame.code, frame.llrs, frame.information, &frame.result});
    }
    return times_in_flight(codes, frames, kRuns);
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
    BatchCost cost = batch_line(times);
    cost.kind = device.device->info().kind;
    cost.frames = frames_per_block;
    return cost;
}

}  // namespace tidemill::cli
