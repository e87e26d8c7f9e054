#include "tidemill/lab/bench/device_ldpc_table.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <span>

#include <fmt/format.h>

#include "tidemill/fec/internal/noisy_llrs.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/ldpc/device_ldpc.hpp"
#include "tidemill/lab/bench/runs.hpp"

namespace tidemill::cli {

namespace {

using dvbs2::DeviceLdpc;
using dvbs2::DeviceLdpcBatch;
using fec::Dvbs2Code;
using fec::Llr;

constexpr fec::LdpcSettings kTenIterations{.max_iterations = 10, .stop_early = false, .fast_iterations = 10};
constexpr std::size_t kTableFrames = 8;
constexpr double kLongestMs = 1500;  // of one batch: devices that are no GPU get no larger one

double ms_of(auto&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// About where the code begins to be of use.
std::vector<Llr> noisy_frames(const Dvbs2Code& code) {
    const double esn0_db = code.rate == fec::CodeRate::r1_2 ? 1.5 : 6.7;
    std::mt19937 random(1);
    std::vector<Llr> all;
    for (std::size_t frame = 0; frame < kTableFrames; ++frame) {
        const std::vector<Llr> llrs = fec::noisy_llrs(code, esn0_db, random);
        all.insert(all.end(), llrs.begin(), llrs.end());
    }
    return all;
}

double gigabits(const Dvbs2Code& code, std::size_t frames, double ms) {
    return 1e-6 * static_cast<double>(frames) * code.n / ms;
}

double host_gbps(const Dvbs2Code& code, const std::vector<Llr>& llrs) {
    fec::LdpcDecoder decoder(code, kTenIterations);
    std::vector<std::uint8_t> information(static_cast<std::size_t>(code.k_ldpc / 8));
    std::vector<double> ms;
    for (int run = 0; run < kRuns; ++run) {
        ms.push_back(ms_of([&] {
            for (std::size_t begin = 0; begin < llrs.size(); begin += static_cast<std::size_t>(code.n))
                decoder.decode(std::span(llrs).subspan(begin, static_cast<std::size_t>(code.n)), information);
        }));
    }
    return gigabits(code, kTableFrames, median(ms));
}

void fill(DeviceLdpcBatch& batch, const std::vector<Llr>& llrs) {
    const auto all = batch.llrs();
    for (std::size_t begin = 0; begin < all.size(); begin += llrs.size())
        std::copy_n(llrs.begin(), std::min(llrs.size(), all.size() - begin),
                    all.begin() + static_cast<std::ptrdiff_t>(begin));
}

// Several batches on their way at once, each on its own queue: copies in, kernel and copies out of different
// ones overlap where the device can.
class Batches {
  public:
    static constexpr std::size_t kInFlight = 3;

    Batches(const std::shared_ptr<DeviceLdpc>& ldpc, std::size_t frames, MemoryPolicy policy,
            const std::vector<Llr>& llrs) {
        for (std::size_t i = 0; i < kInFlight; ++i) {
            all_.push_back(std::make_unique<DeviceLdpcBatch>(ldpc, frames, policy));
            fill(*all_.back(), llrs);
        }
    }

    double kernel_ms() {
        DeviceLdpcBatch& batch = *all_.front();
        batch.start(batch.most_frames());
        batch.finish();
        return batch.times().kernel_us / 1000;
    }

    // Per batch, when they follow each other without a pause.
    double period_ms() {
        constexpr std::size_t kRounds = 4;
        const double ms = ms_of([&] {
            for (std::size_t i = 0; i < (kRounds + 1) * kInFlight; ++i) {
                DeviceLdpcBatch& batch = *all_[i % kInFlight];
                if (i >= kInFlight) batch.finish();
                if (i < kRounds * kInFlight) batch.start(batch.most_frames());
            }
        });
        return ms / (kRounds * kInFlight);
    }

  private:
    std::vector<std::unique_ptr<DeviceLdpcBatch>> all_;
};

// False when larger batches would take too long.
bool add_row(const std::shared_ptr<DeviceLdpc>& ldpc, MemoryPolicy policy, std::size_t frames,
             const std::vector<Llr>& llrs, double host, ResultTable& table) {
    const Dvbs2Code& code = ldpc->code();
    Batches batches(ldpc, frames, policy, llrs);
    if (batches.kernel_ms() > kLongestMs / 4) return false;
    std::vector<double> kernel, period;
    for (int run = 0; run < kRuns; ++run) {
        kernel.push_back(batches.kernel_ms());
        period.push_back(batches.period_ms());
    }
    table.rows.push_back({fmt::format("{} {}", name(code.frame_size), name(code.rate)), std::uint64_t{frames},
                          std::string(name(policy)), median(kernel), spread_percent(kernel),
                          gigabits(code, frames, median(kernel)), gigabits(code, frames, median(period)),
                          spread_percent(period), host});
    return true;
}

void add_code(const std::shared_ptr<Device>& device, const Dvbs2Code& code, ResultTable& table) {
    const auto ldpc = std::make_shared<DeviceLdpc>(device, code, kTenIterations);
    const std::vector<Llr> llrs = noisy_frames(code);
    const double host = host_gbps(code, llrs);
    for (const MemoryPolicy policy : device->info().policies) {
        if (policy == MemoryPolicy::resident) continue;
        for (const std::size_t frames : {1, 8, 64, 128, 264, 396, 512}) {
            try {
                if (!add_row(ldpc, policy, frames, llrs, host, table)) break;
            } catch (const DeviceError& error) {
                table.notes.emplace_back(error.what());
                break;
            }
        }
    }
}

}  // namespace

ResultTable device_ldpc_table(const std::shared_ptr<Device>& device) {
    ResultTable table{fmt::format("{}: LDPC, {} iterations without early stop, coded Gb/s (medians of {})",
                                  device->info().id, kTenIterations.max_iterations, kRuns),
                      {{"code"},
                       {"frames", 0},
                       {"memory"},
                       {"kernel ms", 3, false, "kernel_ms"},
                       {"+-%", 0, false, "kernel_spread_percent"},
                       {"kernel", 3, false, "kernel_gbps"},
                       {"with copies", 3, false, "with_copies_gbps"},
                       {"+-%", 0, false, "with_copies_spread_percent"},
                       {"one core", 3, false, "core_gbps"}}};
    table.notes = {fmt::format("with copies: {} batches in flight, to the host's knowledge that each is done",
                               Batches::kInFlight)};
    for (const Dvbs2Code& code : {fec::dvbs2_code(fec::FrameSize::normal, fec::CodeRate::r1_2),
                                  fec::dvbs2_code(fec::FrameSize::short_, fec::CodeRate::r8_9)}) {
        add_code(device, code, table);
    }
    return table;
}

}  // namespace tidemill::cli
