#include "bindings/remote_binding.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "bindings/interpreter.hpp"
#include "bindings/owned_array.hpp"
#include <nanobind/ndarray.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/reception.hpp"
#include "tidemill/dvbs2/receiver/frame_decoder.hpp"
#include "tidemill/dvbs2/receiver/llr_receiver.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/run/sequence.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

/// Frames for a decoder elsewhere: soft bits one frame behind the other.
struct LlrBatch {
    std::vector<std::uint8_t> pls_codes{};
    std::vector<std::uint8_t> gaps{};
    std::vector<fec::Llr> llrs{};
};

/// Gathers frames and hands them to Python in batches of about so many bytes, as it said of the last one.
class Batcher {
  public:
    Batcher(nb::object take, std::size_t bytes) : take_(std::move(take)), bytes_(bytes) {}

    /// False where Python wants no more.
    bool push(const dvbs2::DemappedFrame& frame) {
        if (batch_.llrs.empty()) batch_.llrs.reserve(bytes_ + frame.llrs.size());
        batch_.pls_codes.push_back(static_cast<std::uint8_t>(frame.info.pls.code()));
        batch_.gaps.push_back(frame.gap ? 1 : 0);
        batch_.llrs.insert(batch_.llrs.end(), frame.llrs.begin(), frame.llrs.end());
        return batch_.llrs.size() < bytes_ || give();
    }

    bool give() {
        if (batch_.pls_codes.empty()) return true;
        LlrBatch batch = std::exchange(batch_, {});
        const InterpreterLock lock;
        if (!lock.is_held()) return false;
        bytes_ = nb::cast<std::size_t>(take_(owned_array(std::move(batch.pls_codes), NPY_UINT8),
                                             owned_array(std::move(batch.gaps), NPY_BOOL),
                                             owned_array(std::move(batch.llrs), NPY_INT8)));
        return bytes_ > 0;
    }

  private:
    nb::object take_;
    std::size_t bytes_;
    LlrBatch batch_;
};

// In order on one thread. What `take` raises is the caller's business: it returns 0 then. Returns the locks.
std::uint64_t receive_llrs(cli::ReceptionOptions options, nb::object take, std::size_t batch_bytes) {
    std::stop_source stop;
    options.stop = stop.get_token();
    Batcher batcher(std::move(take), batch_bytes);
    std::uint64_t locks = 0;
    do_interruptibly(stop, [&] {
        cli::ReceptionJob job = cli::prepare(options);
        const auto source = cli::open_source(job);
        dvbs2::LlrReceiver receiver(*source, job.config, [&](const dvbs2::DemappedFrame& frame) {
            if (!batcher.push(frame)) stop.request_stop();
        });
        Sequence(receiver.graph()).run({.stop = stop.get_token(), .statistics = false});
        batcher.give();
        locks = receiver.counts().locks;
    });
    return locks;
}

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SoftBits = nb::ndarray<const std::int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct DecodedBatch {
    std::vector<std::uint8_t> good{};
    std::vector<std::int32_t> ldpc_iterations{};
    std::vector<std::uint8_t> bbframes{};  // of the good ones
};

DecodedBatch decode(std::span<const std::uint8_t> pls_codes, std::span<const fec::Llr> llrs) {
    thread_local dvbs2::FrameDecoder decoder;
    DecodedBatch decoded;
    for (const std::uint8_t code : pls_codes) {
        const dvbs2::Pls pls = dvbs2::Pls::from_code(code & 0x7f);
        const fec::Dvbs2Code* const known = dvbs2::code_of(pls);
        const auto n = known ? static_cast<std::size_t>(known->n) : 0;
        if (n == 0 || n > llrs.size())
            throw cli::WrongUsage("a batch of frames does not have the soft bits of its PLS codes");
        const dvbs2::DecodedFrame frame = decoder.decode(pls, llrs.first(n));
        llrs = llrs.subspan(n);
        decoded.good.push_back(frame.good ? 1 : 0);
        decoded.ldpc_iterations.push_back(frame.ldpc_iterations);
        if (frame.good)
            decoded.bbframes.insert(decoded.bbframes.end(), frame.bbframe.begin(), frame.bbframe.end());
    }
    return decoded;
}

nb::tuple decode_batch(const Bytes& pls_codes, const SoftBits& llrs) {
    DecodedBatch decoded;
    {
        const Unlocked unlocked;
        decoded = decode({pls_codes.data(), pls_codes.size()}, {llrs.data(), llrs.size()});
    }
    return nb::make_tuple(owned_array(std::move(decoded.good), NPY_BOOL),
                          owned_array(std::move(decoded.ldpc_iterations), NPY_INT32),
                          owned_array(std::move(decoded.bbframes), NPY_UINT8));
}

// 0 where a PLS code has no frame.
std::size_t bbframe_bytes(int pls_code) {
    const fec::Dvbs2Code* const code = dvbs2::code_of(dvbs2::Pls::from_code(pls_code & 0x7f));
    return code ? static_cast<std::size_t>(code->k_bch) / 8 : 0;
}

}  // namespace

void bind_remote(nb::module_& module) {
    module.def("receive_llrs", &receive_llrs, "reception"_a, "take"_a, nb::kw_only(), "batch_bytes"_a);
    module.def("decode_batch", &decode_batch, "pls_codes"_a, "llrs"_a);
    module.def("bbframe_bytes", &bbframe_bytes, "pls_code"_a);
}

}  // namespace tidemill::python
