#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/dvbs2/receiver/ldpc_offload.hpp"
#include "tidemill/dvbs2/sync/frame_sync.hpp"
#include "tidemill/fec/bch.hpp"
#include "tidemill/fec/ldpc_decoder.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

inline constexpr std::size_t kMaxFecframeBits = 64800;
inline constexpr std::size_t kMaxCodewordBytes = 58320 / 8;  // BCH codeword of the normal 9/10 code

/// The code of a frame; null for a frame that carries none.
const fec::Dvbs2Code* code_of(const Pls& pls);

/// Work of a device for a receiver's LDPC frames.
struct LdpcDeviceUse {
    std::uint64_t frames = 0;           ///< decoded there
    std::uint64_t batches = 0;          ///< in so many
    std::uint64_t frames_on_host = 0;   ///< decoded here, after it had failed
    std::uint64_t frames_finished = 0;  ///< of those decoded there: begun anew here, since they took longer
    std::string failure{};              ///< why; empty: it has not
    std::string shortage{};  ///< batches are smaller than they were to be: why; empty: they are not
};

/// Inner code: LLRs to packed BCH codewords; on a device in batches, if there is to be one.
class RxLdpc final : public Module {
  public:
    /// `device`: null for the host. `short_of_time`, asked by all replicas, may be empty: never.
    explicit RxLdpc(const fec::LdpcSettings& settings = {}, std::shared_ptr<const LdpcOffload> device = {},
                    std::function<bool()> short_of_time = {});

    In<fec::Llr> llrs = in<fec::Llr>("llrs", kMaxFecframeBits);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    Out<std::uint8_t> codeword = out<std::uint8_t>("codeword", kMaxCodewordBytes);
    Out<fec::LdpcResult> result = out<fec::LdpcResult>("result");
    Task decode;

    const LdpcDeviceUse& device_use() const { return use_; }
    /// Frames so far that min-sum alone did not bring back, of which sum-product was left out: time was
    /// short. Of all replicas; may be read while the receiver runs.
    std::uint64_t hurried() const { return hurried_->load(std::memory_order_relaxed); }
    void reset_counters() override {
        use_ = {};
        failure_ = {};
    }
    void merge(Module& clone) override;
    void keep(Archive& archive) override {
        std::uint64_t hurried = this->hurried();
        archive("frames", use_.frames)("batches", use_.batches)("frames_on_host", use_.frames_on_host)(
            "frames_finished", use_.frames_finished)("hurried", hurried);
        hurried_->store(hurried, std::memory_order_relaxed);
    }

  private:
    /// Batches of one replica: a copy has its own.
    class Batches {
      public:
        Batches(std::shared_ptr<const LdpcOffload> where, const fec::LdpcSettings& settings)
            : where_(std::move(where)),
              settings_(settings),
              own_(where_ ? where_->batches(settings) : nullptr) {}
        Batches(const Batches& other) : Batches(other.own_ ? other.where_ : nullptr, other.settings_) {}
        Batches& operator=(const Batches&) = delete;
        ~Batches() = default;

        explicit operator bool() const { return own_ != nullptr; }
        LdpcBatches* operator->() const { return own_.get(); }
        void give_up() { own_.reset(); }

      private:
        std::shared_ptr<const LdpcOffload> where_;
        fec::LdpcSettings settings_;
        std::unique_ptr<LdpcBatches> own_;
    };

    void decode_frame(Frame f);
    void begin_batch(Batch batch, std::size_t place);
    bool is_batch_done(std::size_t place);
    void end_batch(Batch batch, std::size_t place);
    void decode_here(const LdpcFrame& frame);
    void hurry(const LdpcFrame& frame, fec::LdpcDecoder& decoder);
    void attempt(const std::function<void()>& call);
    void finish_here(const std::vector<LdpcFrame>& frames);
    std::optional<LdpcFrame> frame_of(Frame f) const;

    fec::LdpcSettings settings_;
    std::array<std::optional<fec::LdpcDecoder>, 21> decoders_;  // made when first needed
    Batches device_;  // none once it has failed, and the host goes on
    bool falls_back_;
    std::exception_ptr failure_{};
    std::vector<std::vector<LdpcFrame>> places_;  // of the batches under way
    LdpcDeviceUse use_;
    std::function<bool()> short_of_time_;
    std::shared_ptr<std::atomic<std::uint64_t>> hurried_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// Outer code: corrects the packed codeword in place; its first bits are the scrambled BBFRAME.
class RxBch final : public Module {
  public:
    RxBch();

    Forward<std::uint8_t> codeword = forward<std::uint8_t>("codeword", kMaxCodewordBytes);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    Out<fec::BchResult> result = out<fec::BchResult>("result");
    Task decode = task("decode", &RxBch::decode_frame, pure);

  private:
    void decode_frame(Frame f) const;

    std::vector<fec::BchDecoder> decoders_;  // one per code
};

/// Removes the BBFRAME's scrambling in place.
class RxDescrambler final : public Module {
  public:
    RxDescrambler() : Module("bb_descrambler") {}

    Forward<std::uint8_t> codeword = forward<std::uint8_t>("codeword", kMaxCodewordBytes);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    Task descramble = task("descramble", &RxDescrambler::descramble_frame, pure);

  private:
    void descramble_frame(Frame f) const;
};

}  // namespace tidemill::dvbs2
