#include "tidemill/fec/ldpc_batch_decoder.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include "tidemill/fec/internal/ldpc_scalar.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"

using namespace tidemill::fec;

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Batch {
    Bytes information;  // of all frames
    std::vector<Llr> llrs;
};

// Random frames over white noise, LLRs of mean +-12.
Batch noisy_batch(const Dvbs2Code& code, float deviation) {
    std::mt19937 random(3);
    std::normal_distribution<float> noise;
    Batch batch;
    for (std::size_t frame = 0; frame < LdpcBatchDecoder::kFrames; ++frame) {
        Bytes information(static_cast<std::size_t>(code.k_ldpc / 8));
        std::ranges::generate(information, [&] { return static_cast<std::uint8_t>(random()); });
        Bytes fecframe(static_cast<std::size_t>(code.n / 8)), bits(static_cast<std::size_t>(code.n));
        LdpcEncoder(code).encode(information, fecframe);
        unpack_bits(fecframe, bits);
        for (const std::uint8_t bit : bits) {
            const float llr = (bit ? -12.0F : 12.0F) + deviation * noise(random);
            batch.llrs.push_back(static_cast<Llr>(std::clamp(llr, -127.0F, 127.0F)));
        }
        batch.information.insert(batch.information.end(), information.begin(), information.end());
    }
    return batch;
}

Bytes one_by_one(const Dvbs2Code& code, const Batch& batch, int iterations) {
    ScalarLdpcDecoder scalar(code);
    Bytes all(batch.information.size());
    const std::size_t frame_bytes = all.size() / LdpcBatchDecoder::kFrames,
                      n = static_cast<std::size_t>(code.n);
    for (std::size_t frame = 0; frame < LdpcBatchDecoder::kFrames; ++frame) {
        scalar.decode(std::span(batch.llrs).subspan(frame * n, n), iterations,
                      std::span(all).subspan(frame * frame_bytes, frame_bytes));
    }
    return all;
}

}  // namespace

TEST_CASE("ldpc batch: on every instruction set each frame comes out as from a loop over its own checks") {
    for (const Dvbs2Code& code :
         {dvbs2_code(FrameSize::short_, CodeRate::r1_4), dvbs2_code(FrameSize::short_, CodeRate::r8_9)}) {
        CAPTURE(name(code.rate));
        const Batch batch = noisy_batch(code, 14.0F);  // beyond what it can correct
        const Bytes want = one_by_one(code, batch, 3);
        for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
            hwy::SetSupportedTargetsForTest(target);
            hwy::GetChosenTarget().Update(hwy::SupportedTargets());
            LdpcBatchDecoder decoder(code);
            Bytes got(want.size());
            CHECK(decoder.decode(batch.llrs, 3, false, got) == 3);
            CHECK(got == want);
        }
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
}

TEST_CASE("ldpc batch: it stops as soon as all frames are codewords, and not before") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_4);
    LdpcBatchDecoder decoder(code);
    const Batch noisy = noisy_batch(code, 7.0F);
    Bytes got(noisy.information.size());
    const int sweeps = decoder.decode(noisy.llrs, 50, true, got);
    CHECK(sweeps > 1);
    CHECK(sweeps < 20);
    CHECK(got == noisy.information);
    CHECK(decoder.decode(noisy.llrs, sweeps - 1, true, got) == sweeps - 1);
    Batch one_is_noisy = noisy_batch(code, 0.0F);
    const auto last = static_cast<std::ptrdiff_t>(code.n);
    std::copy(noisy.llrs.end() - last, noisy.llrs.end(), one_is_noisy.llrs.end() - last);
    CHECK(decoder.decode(noisy_batch(code, 0.0F).llrs, 50, true, got) == 0);
    CHECK(decoder.decode(one_is_noisy.llrs, 50, true, got) > 0);
    CHECK(got == noisy.information);
}
