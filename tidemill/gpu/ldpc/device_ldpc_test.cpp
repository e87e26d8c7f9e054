#include "tidemill/gpu/ldpc/device_ldpc.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/fec/fec_error.hpp"
#include "tidemill/fec/internal/noisy_llrs.hpp"
#include "tidemill/fec/ldpc_circulants.hpp"
#include "tidemill/fec/ldpc_range.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/testing/devices_for_tests.hpp"
#include "tidemill/gpu/ldpc/ldpc_kernels.hpp"
#include "tidemill/gpu/offload/device_tokens.hpp"

using namespace tidemill;
using namespace tidemill::dvbs2;
using device::on_all_devices;
using fec::CodeRate;
using fec::Dvbs2Code;
using fec::FrameSize;
using fec::Llr;

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Decoded {
    fec::LdpcResult result;
    Bytes information;

    bool operator==(const Decoded&) const = default;
};

// EN 302 307-1, table 13: Es/N0 for QPSK, normal frames, by rising rate.
constexpr double kThresholdDb[] = {-2.35, -1.24, -0.30, 1.00, 2.23, 3.10, 4.03, 4.68, 5.18, 6.20, 6.42};

// Frames of which every third converges, every third is hopeless, and every third is of arbitrary bytes.
std::vector<Llr> frames_of_all_sorts(const Dvbs2Code& code, std::size_t frames) {
    std::mt19937 random(21);
    std::vector<Llr> all;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        const double above_db = frame % 3 == 0 ? 4.0 : -3.0;
        std::vector<Llr> llrs =
            fec::noisy_llrs(code, kThresholdDb[static_cast<std::size_t>(code.rate)] + above_db, random);
        if (frame % 3 == 2) std::ranges::generate(llrs, [&] { return static_cast<Llr>(random()); });
        all.insert(all.end(), llrs.begin(), llrs.end());
    }
    return all;
}

// Expected result of a device: the host decoder's of the fast iterations.
std::vector<Decoded> on_host(const Dvbs2Code& code, fec::LdpcSettings settings,
                             const std::vector<Llr>& llrs) {
    settings.max_iterations = fec::ldpc_fast_share(settings, code);
    fec::LdpcDecoder decoder(code, settings);
    const auto n = static_cast<std::size_t>(code.n);
    std::vector<Decoded> all;
    for (std::size_t begin = 0; begin < llrs.size(); begin += n) {
        Decoded decoded{{}, Bytes(static_cast<std::size_t>(code.k_ldpc / 8))};
        decoded.result = decoder.decode(std::span(llrs).subspan(begin, n), decoded.information);
        all.push_back(decoded);
    }
    return all;
}

std::vector<Decoded> on_device(DeviceLdpcBatch& batch, const Dvbs2Code& code, const std::vector<Llr>& llrs) {
    const std::size_t frames = llrs.size() / static_cast<std::size_t>(code.n);
    std::ranges::copy(llrs, batch.llrs().begin());
    batch.start(frames);
    batch.finish();
    const auto bytes = static_cast<std::size_t>(code.k_ldpc / 8);
    std::vector<Decoded> all;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        const auto information = batch.information().subspan(frame * bytes, bytes);
        all.push_back({batch.result(frame), {information.begin(), information.end()}});
    }
    return all;
}

std::size_t converged(const std::vector<Decoded>& frames) {
    return static_cast<std::size_t>(
        std::ranges::count_if(frames, [](const Decoded& frame) { return frame.result.converged; }));
}

}  // namespace

TEST_CASE("device ldpc: frames of every code have the host decoder's bits, iterations and flags") {
    on_all_devices([](const std::shared_ptr<Device>& device) {
        for (const Dvbs2Code& code : fec::dvbs2_codes()) {
            CAPTURE(name(code.frame_size));
            CAPTURE(name(code.rate));
            const std::vector<Llr> llrs = frames_of_all_sorts(code, 3);
            const std::vector<Decoded> expected = on_host(code, {}, llrs);
            REQUIRE(converged(expected) == 1);
            DeviceLdpcBatch batch(std::make_shared<DeviceLdpc>(device, code), 3, MemoryPolicy::copy);
            CHECK(on_device(batch, code, llrs) == expected);
        }
    });
}

TEST_CASE("device ldpc: where PTX was built, there is some for the degrees of every code") {
    const KernelSource source = device::ldpc_kernels();
    if (source.ptx.empty()) MESSAGE("skipped: no PTX was built");
    for (const Dvbs2Code& code : fec::dvbs2_codes()) {
        if (source.ptx.empty()) break;
        std::vector<std::size_t> degrees;
        for (const fec::LdpcCheckLayer& layer : fec::ldpc_check_layers(code))
            degrees.push_back(layer.own.size() + layer.shared.size());
        const auto [fewest, most] = std::ranges::minmax(degrees);
        const std::string options = fmt::format("-DDEGREE={} -DLEAST_DEGREE={}", most, fewest);
        CAPTURE(options);
        CHECK(std::ranges::count(source.ptx, options, &PtxImage::options) == 2);
    }
}

TEST_CASE("device ldpc: neither the size of a batch nor the memory it lies in changes a frame") {
    on_all_devices([](const std::shared_ptr<Device>& device) {
        const Dvbs2Code& code = fec::dvbs2_code(FrameSize::short_, CodeRate::r3_5);
        const auto ldpc = std::make_shared<DeviceLdpc>(device, code);
        const std::vector<Llr> llrs = frames_of_all_sorts(code, 16);
        const std::vector<Decoded> expected = on_host(code, {}, llrs);
        for (const MemoryPolicy policy : device->info().policies) {
            if (policy == MemoryPolicy::resident) continue;
            CAPTURE(std::string(name(policy)));
            DeviceLdpcBatch batch(ldpc, 16, policy);
            for (const std::size_t frames : {1, 16, 3}) {
                const auto some = llrs.begin() + static_cast<std::ptrdiff_t>(frames) * code.n;
                CHECK(on_device(batch, code, {llrs.begin(), some}) ==
                      std::vector(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(frames)));
            }
        }
    });
}

TEST_CASE("device ldpc: without early stop, with few iterations, and with posteriors that do not fit") {
    on_all_devices([](const std::shared_ptr<Device>& device) {
        if (device->info().id.starts_with("cuda")) return;  // whose PTX always has room
        const Dvbs2Code& code = fec::dvbs2_code(FrameSize::short_, CodeRate::r8_9);
        const std::vector<Llr> llrs = frames_of_all_sorts(code, 3);
        const fec::LdpcSettings settings{.max_iterations = 4, .stop_early = false};
        const std::vector<Decoded> expected = on_host(code, settings, llrs);
        for (const std::size_t local_bytes : {std::size_t{1} << 20U, std::size_t{8} << 10U}) {
            const auto ldpc = std::make_shared<DeviceLdpc>(device, code, settings, local_bytes);
            DeviceLdpcBatch batch(ldpc, 3, MemoryPolicy::copy);
            CHECK(on_device(batch, code, llrs) == expected);
        }
    });
}

TEST_CASE("device ldpc: two batches in flight do not disturb each other") {
    on_all_devices([](const std::shared_ptr<Device>& device) {
        const Dvbs2Code& code = fec::dvbs2_code(FrameSize::short_, CodeRate::r3_4);
        const auto ldpc = std::make_shared<DeviceLdpc>(device, code);
        DeviceLdpcBatch first(ldpc, 3, MemoryPolicy::pinned), second(ldpc, 3, MemoryPolicy::pinned);
        const std::vector<Llr> llrs = frames_of_all_sorts(code, 3);
        std::ranges::copy(llrs, first.llrs().begin());
        first.start(3);
        const std::vector<Decoded> expected = on_host(code, {}, llrs);
        CHECK(on_device(second, code, llrs) == expected);
        first.finish();
        for (std::size_t frame = 0; frame < 3; ++frame) CHECK(first.result(frame) == expected[frame].result);
        CHECK(first.times().kernel_us > 0);
    });
}

TEST_CASE(
    "device ldpc: what lies in registered tokens is copied from there, the rest and loud frames are not") {
    on_all_devices([](const std::shared_ptr<Device>& device) {
        const Dvbs2Code& code = fec::dvbs2_code(FrameSize::short_, CodeRate::r3_4);
        const auto n = static_cast<std::size_t>(code.n);
        constexpr std::size_t kFrames = 6;
        std::vector<Llr> llrs = frames_of_all_sorts(code, kFrames);
        std::fill_n(llrs.begin() + static_cast<std::ptrdiff_t>(n), n, Llr{127});  // as loud as can be
        const std::vector<Decoded> expected = on_host(code, {}, llrs);
        DeviceTokens tokens(device);
        const std::size_t pitch = n + 192;
        auto* registered = reinterpret_cast<Llr*>(tokens.take(kFrames, pitch));
        std::vector<const Llr*> frames;
        for (std::size_t frame = 0; frame < kFrames; ++frame) {
            std::copy_n(llrs.data() + frame * n, n, registered + frame * pitch);
            frames.push_back(frame == 4 ? llrs.data() + frame * n : registered + frame * pitch);
        }
        DeviceLdpcBatch batch(std::make_shared<DeviceLdpc>(device, code), kFrames, MemoryPolicy::pinned);
        std::ranges::fill(batch.llrs(), Llr{-99});
        batch.start(frames, tokens);
        batch.finish();
        for (std::size_t frame = 0; frame < kFrames; ++frame) {
            CAPTURE(frame);
            CHECK(batch.result(frame) == expected[frame].result);
            const std::span<Llr> gathered = batch.llrs().subspan(frame * n, n);
            const bool is_gathered = std::ranges::any_of(gathered, [](Llr llr) { return llr != -99; });
            const bool is_loud = fec::ldpc_halvings(code, std::span(llrs).subspan(frame * n, n)) > 0;
            CHECK(is_gathered == (is_loud || frame == 4));
            CHECK((is_loud || frame != 1));
        }
    });
}

TEST_CASE("device ldpc: batches and settings out of range are refused by name") {
    on_all_devices([](const std::shared_ptr<Device>& device) {
        const Dvbs2Code& code = fec::dvbs2_code(FrameSize::short_, CodeRate::r1_2);
        CHECK_THROWS_WITH_AS(DeviceLdpc(device, code, {.max_iterations = 0}),
                             "LdpcSettings: max_iterations is 0, it must be at least 1", fec::FecError);
        DeviceLdpcBatch batch(std::make_shared<DeviceLdpc>(device, code), 2, MemoryPolicy::copy);
        CHECK_THROWS_WITH_AS(batch.start(0), "DeviceLdpcBatch: 0 frames in a batch of 1 to 2", DeviceError);
        CHECK_THROWS_WITH_AS(batch.start(3), "DeviceLdpcBatch: 3 frames in a batch of 1 to 2", DeviceError);
    });
}
