#include "tidemill/gpu/ldpc/ldpc_batch_cost.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/gpu/ldpc/device_ldpc_times.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::cli {

namespace {

constexpr int kRuns = 9;  // of each batch, of which the median counts

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

// LLRs there; the codeword, and iterations and a flag, back.
double bytes_of_frame(const KeptFrame& frame) {
    return static_cast<double>(frame.code->n) + frame.code->k_ldpc / 8.0 + 2 * sizeof(std::int32_t);
}

std::vector<KeptFrame> first_frames(const ReceptionJob& job) {
    const std::unique_ptr<io::SampleSource> source = open_preview(job);
    dvbs2::Receiver receiver(*source, job.config, [](auto) {});
    KeptFrames kept;
    Sequence(receiver.graph()).run({.stop_when = [&] { return kept.full(); }, .observers = {&kept}});
    return std::move(kept.frames());
}

/// The frames' LLRs where a run has them: one pitch apart, and where the device copies them from tokens,
/// there.
class LlrsOfFrames {
  public:
    LlrsOfFrames(const std::vector<KeptFrame>& kept, const std::shared_ptr<DeviceTokens>& tokens)
        : bytes_(kept.size(), dvbs2::kMaxFecframeBits, tokens) {
        for (std::size_t i = 0; i < kept.size(); ++i) std::ranges::copy(kept[i].llrs, at(i));
    }
    std::span<const fec::Llr> of(std::size_t i, const KeptFrame& frame) const {
        return {at(i), frame.llrs.size()};
    }

  private:
    fec::Llr* at(std::size_t i) const {
        return reinterpret_cast<fec::Llr*>(bytes_.data()) + i * dvbs2::kMaxFecframeBits;
    }

    TokenBytes bytes_;
};

BatchTimes times_of(dvbs2::DeviceLdpcCodes& codes, std::vector<KeptFrame>& kept, const LlrsOfFrames& llrs,
                    std::size_t size) {
    std::vector<dvbs2::LdpcFrame> frames;
    for (std::size_t i = 0; i < size; ++i) {
        KeptFrame& frame = kept[i % kept.size()];
        frames.push_back({frame.code, llrs.of(i % kept.size(), frame), frame.information, &frame.result});
    }
    return times_in_flight(codes, frames, kRuns);
}

}  // namespace

std::optional<BatchCost> ldpc_batch_cost(const ReceptionJob& job, const dvbs2::LdpcOnDevice& device,
                                         double frames_per_block) {
    constexpr double kLongestUs = 200'000;  // of one batch: larger ones would take too long
    std::vector<KeptFrame> kept = first_frames(job);
    if (kept.empty()) return {};
    const LlrsOfFrames llrs(kept, device.tokens);
    dvbs2::DeviceLdpcCodes codes(device, fec::LdpcSettings{});
    std::vector<BatchTimes> times;
    for (const std::size_t size : {8, 32, 128}) {
        if (size > device.most_frames || (!times.empty() && times.back().batch_us > kLongestUs / 4)) break;
        times.push_back(times_of(codes, kept, llrs, size));
        if (codes.most_frames() < size) break;
    }
    BatchCost cost = batch_line(times);
    cost.kind = device.device->info().kind;
    cost.frames = frames_per_block;
    cost.alone.memory = name(device.memory);
    for (const KeptFrame& frame : kept)
        cost.alone.frame_bytes += bytes_of_frame(frame) / static_cast<double>(kept.size());
    cost.most_frames = std::min(cost.most_frames, static_cast<int>(codes.most_frames()));
    return cost;
}

}  // namespace tidemill::cli
