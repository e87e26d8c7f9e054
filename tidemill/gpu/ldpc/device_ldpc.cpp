#include "tidemill/gpu/ldpc/device_ldpc.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "tidemill/fec/fec_error.hpp"
#include "tidemill/fec/ldpc_circulants.hpp"
#include "tidemill/fec/ldpc_range.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/ldpc/ldpc_kernels.hpp"
#include "tidemill/gpu/offload/device_tokens.hpp"

namespace tidemill::dvbs2 {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kItems = 90;  // of a group: each has four of a layer's 360 checks

struct Tables {
    Words edges;  // two words each
    Words layers;
    std::size_t most_edges = 0;
    std::size_t fewest_edges = 1000;
};

// Where lane 0's bit lies: word r of the column in byte Q, for a start of 90 Q + r. Items from 90 - r on
// wrap.
void append_edge(const fec::Circulant& circulant, Words& edges) {
    const std::uint32_t start = (fec::kCirculantSize - circulant.shift) % fec::kCirculantSize;
    edges.push_back(circulant.column * kItems + start % kItems);
    edges.push_back((kItems - start % kItems) << 8U | start / kItems * 8);
}

Tables tables_of(const fec::Dvbs2Code& code) {
    Tables tables;
    for (const fec::LdpcCheckLayer& layer : fec::ldpc_check_layers(code)) {
        const auto first = static_cast<std::uint32_t>(tables.edges.size() / 2);
        for (const fec::Circulant& circulant : layer.own) append_edge(circulant, tables.edges);
        for (const fec::Circulant& circulant : layer.shared) append_edge(circulant, tables.edges);
        const std::size_t all = layer.own.size() + layer.shared.size();
        tables.layers.push_back(first | static_cast<std::uint32_t>(layer.own.size() << 16U | all << 24U));
        tables.most_edges = std::max(tables.most_edges, all);
        tables.fewest_edges = std::min(tables.fewest_edges, all);
    }
    return tables;
}

// A kernel for each degree is unrolled and keeps its edges in registers. Processors gain nothing by that, and
// take ten seconds to compile one: they get a single one for all codes.
std::string options_of(const Tables& tables, const DeviceInfo& device, bool posteriors_are_local) {
    const bool is_for_all = device.kind == "cpu";
    return fmt::format("-DDEGREE={} -DLEAST_DEGREE={}{}", is_for_all ? 30 : tables.most_edges,
                       is_for_all ? 0 : tables.fewest_edges,
                       posteriors_are_local ? "" : " -DPOSTERIORS_IN_GLOBAL_MEMORY");
}

}  // namespace

DeviceLdpc::DeviceLdpc(std::shared_ptr<Device> device, const fec::Dvbs2Code& code,
                       const fec::LdpcSettings& settings, std::optional<std::size_t> local_bytes,
                       std::chrono::milliseconds patience)
    : device_(std::move(device)),
      code_(code),
      iterations_(fec::ldpc_fast_share(settings, code)),
      stop_early_(settings.stop_early) {
    if (settings.max_iterations < 1) {
        throw fec::FecError(
            fmt::format("DeviceLdpc: max_iterations is {}, it must be at least 1", settings.max_iterations));
    }
    const Tables tables = tables_of(code);
    edges_ = tables.edges.size() / 2;
    const auto bits = static_cast<std::size_t>(code.n);
    const std::size_t table_bytes = 4 * (tables.edges.size() + tables.layers.size());
    constexpr std::size_t kOwn = 256;  // of the kernel itself
    posteriors_are_local_ = table_bytes + bits + kOwn <= local_bytes.value_or(device_->info().local_bytes);
    local_bytes_ = table_bytes + (posteriors_are_local_ ? bits : 0);
    const std::string options = options_of(tables, device_->info(), posteriors_are_local_);
    kernel_ = device_->kernel({device::ldpc_kernels(), options}, "ldpc");
    const std::array shape{code.n, code.k_ldpc, code.q(), static_cast<std::int32_t>(edges_)};
    Words words = tables.edges;
    words.insert(words.end(), tables.layers.begin(), tables.layers.end());
    shape_ = filled(shape.data(), 4 * shape.size(), patience);
    tables_ = filled(words.data(), 4 * words.size(), patience);
}

std::unique_ptr<DeviceMemory> DeviceLdpc::filled(const void* data, std::size_t bytes,
                                                 std::chrono::milliseconds patience) {
    auto memory = device_->allocate(bytes, MemoryPolicy::copy);
    std::memcpy(memory->host().data(), data, bytes);
    const auto queue = device_->queue();
    queue->to_device(*memory, bytes);
    wait_for(*queue->mark(), fmt::format("{}: copying the tables of a code", device_->info().id), patience);
    return memory;
}

DeviceLdpcBatch::DeviceLdpcBatch(std::shared_ptr<DeviceLdpc> ldpc, std::size_t most_frames,
                                 MemoryPolicy policy)
    : ldpc_(std::move(ldpc)), most_frames_(most_frames) {
    Device& device = ldpc_->device();
    const auto bits = static_cast<std::size_t>(ldpc_->code().n);
    queue_ = device.queue();
    llrs_ = device.allocate(most_frames * bits, policy);
    information_ = device.allocate(most_frames * static_cast<std::size_t>(ldpc_->code().k_ldpc / 8), policy);
    results_ = device.allocate(most_frames * 2 * sizeof(std::int32_t), policy);
    messages_ = device.allocate(most_frames * ldpc_->edges_ * kItems * 4, MemoryPolicy::resident);
    if (!ldpc_->posteriors_are_local_)
        posteriors_ = device.allocate(most_frames * bits, MemoryPolicy::resident);
}

// As LdpcDecoder does.
void DeviceLdpcBatch::bring_into_range(std::size_t frames) {
    const auto n = static_cast<std::size_t>(ldpc_->code().n);
    for (std::size_t frame = 0; frame < frames; ++frame) {
        const std::span<fec::Llr> own = llrs().subspan(frame * n, n);
        const int halvings = fec::ldpc_halvings(ldpc_->code(), own);
        if (halvings > 0) fec::halve_llrs(own, halvings, own);
    }
}

void DeviceLdpcBatch::check_count(std::size_t frames) const {
    if (frames > 0 && frames <= most_frames_) return;
    throw DeviceError(fmt::format("DeviceLdpcBatch: {} frames in a batch of 1 to {}", frames, most_frames_));
}

void DeviceLdpcBatch::start(std::size_t frames) {
    check_count(frames);
    bring_into_range(frames);
    begin_ = queue_->mark();
    queue_->to_device(*llrs_, frames * static_cast<std::size_t>(ldpc_->code().n));
    compute(frames);
}

void DeviceLdpcBatch::start(std::span<const fec::Llr* const> frames, const DeviceTokens& tokens) {
    check_count(frames.size());
    std::vector<const fec::Llr*> reached;
    for (const fec::Llr* frame : frames) reached.push_back(within_reach(frame, reached.size(), tokens));
    begin_ = queue_->mark();
    copy_rows(reached);
    compute(frames.size());
}

// Where the device can copy a frame from: its token, or its place here.
const fec::Llr* DeviceLdpcBatch::within_reach(const fec::Llr* frame, std::size_t place,
                                              const DeviceTokens& tokens) {
    const auto n = static_cast<std::size_t>(ldpc_->code().n);
    const std::span all(frame, n);
    const int halvings = fec::ldpc_halvings(ldpc_->code(), all);
    if (halvings == 0 && tokens.holds(std::as_bytes(all))) return frame;
    const std::span<fec::Llr> here = llrs().subspan(place * n, n);
    if (halvings > 0) {
        fec::halve_llrs(all, halvings, here);
    } else {
        std::ranges::copy(all, here.begin());
    }
    return here.data();
}

// One copy for all that follow each other at one distance, as tokens of a ring do.
void DeviceLdpcBatch::copy_rows(std::span<const fec::Llr* const> frames) {
    const auto n = static_cast<std::size_t>(ldpc_->code().n);
    for (std::size_t first = 0; first < frames.size();) {
        std::size_t rows = 1;
        const auto pitch = first + 1 < frames.size() ? frames[first + 1] - frames[first] : 0;
        while (pitch >= static_cast<std::ptrdiff_t>(n) && first + rows < frames.size() &&
               frames[first + rows] - frames[first + rows - 1] == pitch)
            ++rows;
        const auto* begin = reinterpret_cast<const std::byte*>(frames[first]);
        queue_->to_device(*llrs_, first * n,
                          {begin, rows > 1 ? static_cast<std::size_t>(pitch) : n, n, rows});
        first += rows;
    }
}

void DeviceLdpcBatch::compute(std::size_t frames) {
    frames_ = frames;
    queue_->to_device(*information_, 0);
    queue_->to_device(*results_, 0);
    copied_ = queue_->mark();
    std::vector<KernelArgument> arguments{llrs_.get(),
                                          information_.get(),
                                          results_.get(),
                                          messages_.get(),
                                          ldpc_->shape_.get(),
                                          ldpc_->tables_.get(),
                                          std::int32_t{ldpc_->iterations_},
                                          std::int32_t{ldpc_->stop_early_},
                                          LocalBytes{ldpc_->local_bytes_}};
    if (posteriors_) arguments.emplace_back(posteriors_.get());
    queue_->launch(*ldpc_->kernel_, {frames, kItems}, arguments);
    computed_ = queue_->mark();
    end_.reset();
    // A copy that waits in the driver, where nobody can watch it, is for finish().
    if (llrs_->policy() != MemoryPolicy::copy) send_back();
}

void DeviceLdpcBatch::send_back() {
    queue_->to_host(*information_, frames_ * static_cast<std::size_t>(ldpc_->code().k_ldpc / 8));
    queue_->to_host(*results_, frames_ * 2 * sizeof(std::int32_t));
    queue_->to_host(*llrs_, 0);
    end_ = queue_->mark();
}

void DeviceLdpcBatch::finish(std::chrono::milliseconds patience) {
    if (!end_) {
        wait(*computed_, patience);
        send_back();
    }
    wait(*end_, patience);
}

void DeviceLdpcBatch::wait(DeviceEvent& event, std::chrono::milliseconds patience) const {
    wait_for(event,
             fmt::format("{}: ldpc {} {}, a batch of {} frames", ldpc_->device().info().id,
                         fec::name(ldpc_->code().frame_size), fec::name(ldpc_->code().rate), frames_),
             patience);
}

DeviceBatchTimes DeviceLdpcBatch::times() {
    return {copied_->us_since(*begin_), computed_->us_since(*copied_), end_->us_since(*computed_)};
}

fec::LdpcResult DeviceLdpcBatch::result(std::size_t frame) const {
    const auto numbers = results_->host_as<std::int32_t>();
    return {numbers[2 * frame], numbers[2 * frame + 1] != 0};
}

}  // namespace tidemill::dvbs2
