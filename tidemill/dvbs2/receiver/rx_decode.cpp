#include "tidemill/dvbs2/receiver/rx_decode.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "tidemill/fec/bb_scrambler.hpp"
#include "tidemill/fec/llr_information.hpp"

namespace tidemill::dvbs2 {

namespace {

std::size_t index_of(const fec::Dvbs2Code& code) {
    return static_cast<std::size_t>(&code - fec::dvbs2_codes().data());
}

// No scrambled BBFRAME is that word, but silence decodes to it.
bool is_all_zeros(std::span<const std::uint8_t> codeword) {
    return std::ranges::all_of(codeword, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

const fec::Dvbs2Code* code_of(const Pls& pls) {
    if (pls.is_dummy() || !pls.is_defined()) return nullptr;
    return &fec::dvbs2_code(pls.size, find_modcod(pls.modcod)->rate);
}

RxLdpc::RxLdpc(const fec::LdpcSettings& settings, std::shared_ptr<const LdpcOffload> device,
               std::function<bool()> short_of_time)
    : Module("ldpc"),
      decode(device ? task_in_flight<&RxLdpc::begin_batch, &RxLdpc::is_batch_done, &RxLdpc::end_batch>(
                          "decode", {.replication = Replication::cloned,
                                     .batch = device->most_frames,
                                     .in_flight = device->in_flight})
                    : task("decode", &RxLdpc::decode_frame, cloned)),
      settings_(settings),
      device_(device, settings),
      falls_back_(device && device->falls_back),
      places_(device ? device->in_flight : 0),
      short_of_time_(std::move(short_of_time)) {}

void RxLdpc::merge(Module& clone) {
    const LdpcDeviceUse& other = dynamic_cast<RxLdpc&>(clone).use_;
    use_.frames += other.frames;
    use_.batches += other.batches;
    use_.frames_on_host += other.frames_on_host;
    use_.frames_finished += other.frames_finished;
    if (use_.failure.empty()) use_.failure = other.failure;
    if (use_.shortage.empty()) use_.shortage = other.shortage;
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

// Waits for nothing where the device has failed: it may hang, and does so once.
void RxLdpc::attempt(const std::function<void()>& call) {
    if (!device_) return;
    if (failure_) std::rethrow_exception(failure_);
    try {
        call();
    } catch (const Error& error) {
        use_.failure = error.what();
        failure_ = std::current_exception();
        if (!falls_back_) throw;
        device_.give_up();
    }
}

void RxLdpc::begin_batch(Batch batch, std::size_t place) {
    std::vector<LdpcFrame>& frames = places_[place];
    frames.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (const auto frame = frame_of(batch[i])) frames.push_back(*frame);
    }
    attempt([&] { device_->begin(place, frames); });
}

bool RxLdpc::is_batch_done(std::size_t place) {
    bool is_done = true;
    attempt([&] { is_done = device_->is_done(place); });
    return is_done;
}

// Where the device has failed in between, the host begins.
void RxLdpc::end_batch(Batch /*frames*/, std::size_t place) {
    const std::vector<LdpcFrame>& frames = places_[place];
    attempt([&] { device_->end(place); });
    if (device_) {
        use_.frames += frames.size();
        use_.batches += !frames.empty();
        if (use_.shortage != device_->shortage()) use_.shortage = device_->shortage();
        finish_here(frames);
    } else {
        for (const LdpcFrame& frame : frames) decode_here(frame);
        use_.frames_on_host += frames.size();
    }
}

// The device does the fast iterations: what they leave begins anew, and so comes out as the host alone has
// it.
void RxLdpc::finish_here(const std::vector<LdpcFrame>& frames) {
    for (const LdpcFrame& frame : frames) {
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
    const auto word = f[codeword].first(static_cast<std::size_t>(code->k_ldpc) / 8);
    if (!is_all_zeros(word)) f[result][0] = decoders_[index_of(*code)].decode(word);
}

void RxDescrambler::descramble_frame(Frame f) const {
    const fec::Dvbs2Code* code = code_of(f[info].pls);
    if (code) fec::bb_scramble(f[codeword].first(static_cast<std::size_t>(code->k_bch) / 8));
}

}  // namespace tidemill::dvbs2
