#include "tidemill/dvbs2/receiver/rx_decode.hpp"

#include <utility>

#include "tidemill/device/device_error.hpp"
#include "tidemill/fec/bb_scrambler.hpp"
#include "tidemill/fec/llr_information.hpp"

namespace tidemill::dvbs2 {

namespace {

std::size_t index_of(const fec::Dvbs2Code& code) {
    return static_cast<std::size_t>(&code - fec::dvbs2_codes().data());
}

}  // namespace

const fec::Dvbs2Code* code_of(const Pls& pls) {
    if (pls.is_dummy() || !pls.is_defined()) return nullptr;
    return &fec::dvbs2_code(pls.size, find_modcod(pls.modcod)->rate);
}

RxLdpc::RxLdpc(const fec::LdpcSettings& settings, const LdpcOnDevice* device,
               std::function<bool()> short_of_time)
    : Module("ldpc"),
      decode(device ? task("decode", &RxLdpc::decode_batch,
                           {.replication = Replication::cloned, .batch = device->most_frames})
                    : task("decode", &RxLdpc::decode_frame, cloned)),
      settings_(settings),
      falls_back_(device && device->falls_back),
      short_of_time_(std::move(short_of_time)) {
    if (device) device_.emplace(*device, settings);
}

void RxLdpc::merge(Module& clone) {
    const LdpcDeviceUse& other = dynamic_cast<RxLdpc&>(clone).use_;
    use_.frames += other.frames;
    use_.batches += other.batches;
    use_.frames_on_host += other.frames_on_host;
    use_.frames_finished += other.frames_finished;
    if (use_.failure.empty()) use_.failure = other.failure;
}

// Empty for a frame that carries no code.
std::optional<LdpcFrame> RxLdpc::frame_of(Frame f) const {
    f[result][0] = {0, false};
    const fec::Dvbs2Code* code = code_of(f[info].pls);
    if (!code) return {};
    return LdpcFrame{code, f[llrs].first(static_cast<std::size_t>(code->n)),
                     f[codeword].first(static_cast<std::size_t>(code->k_ldpc) / 8), f[result].data()};
}

void RxLdpc::decode_frame(Frame f) {
    if (const auto frame = frame_of(f)) decode_here(*frame);
}

void RxLdpc::decode_here(const LdpcFrame& frame) {
    std::optional<fec::LdpcDecoder>& decoder = decoders_[index_of(*frame.code)];
    if (!decoder) decoder.emplace(*frame.code, settings_);
    if (short_of_time_ && short_of_time_()) return hurry(frame, *decoder);
    *frame.result = fec::tell_too_little(*frame.code, frame.llrs)
                        ? decoder->decode_fast(frame.llrs, frame.information)
                        : decoder->decode(frame.llrs, frame.information);
}

void RxLdpc::hurry(const LdpcFrame& frame, fec::LdpcDecoder& decoder) {
    *frame.result = decoder.decode_fast(frame.llrs, frame.information);
    const bool had_more = frame.result->iterations < settings_.max_iterations;
    if (had_more && !frame.result->converged) hurried_->fetch_add(1, std::memory_order_relaxed);
}

void RxLdpc::decode_batch(Batch batch) {
    frames_.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (const auto frame = frame_of(batch[i])) frames_.push_back(*frame);
    }
    if (decode_on_device()) return;
    for (const LdpcFrame& frame : frames_) decode_here(frame);
    use_.frames_on_host += frames_.size();
}

// False where the device has failed and the host is to go on.
bool RxLdpc::decode_on_device() {
    if (!device_) return false;
    try {
        device_->decode(frames_);
        use_.frames += frames_.size();
        use_.batches += !frames_.empty();
        finish_here();
        return true;
    } catch (const DeviceError& error) {
        if (!falls_back_) throw;
        use_.failure = error.what();
        device_.reset();
        return false;
    }
}

// The device does the fast iterations: what they leave begins anew, and so comes out as the host alone has
// it.
void RxLdpc::finish_here() {
    for (const LdpcFrame& frame : frames_) {
        if (frame.result->converged || frame.result->iterations == settings_.max_iterations) continue;
        decode_here(frame);
        ++use_.frames_finished;
    }
}

RxBch::RxBch() : Module("bch") {
    for (const fec::Dvbs2Code& code : fec::dvbs2_codes()) decoders_.emplace_back(code);
}

void RxBch::decode_frame(Frame f) const {
    f[result][0] = {false, 0};
    const fec::Dvbs2Code* code = code_of(f[info].pls);
    if (!code) return;
    f[result][0] =
        decoders_[index_of(*code)].decode(f[codeword].first(static_cast<std::size_t>(code->k_ldpc) / 8));
}

void RxDescrambler::descramble_frame(Frame f) const {
    const fec::Dvbs2Code* code = code_of(f[info].pls);
    if (code) fec::bb_scramble(f[codeword].first(static_cast<std::size_t>(code->k_bch) / 8));
}

}  // namespace tidemill::dvbs2
