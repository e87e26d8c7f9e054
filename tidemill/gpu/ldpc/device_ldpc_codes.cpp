#include "tidemill/gpu/ldpc/device_ldpc_codes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tidemill::dvbs2 {

namespace {

std::size_t number_of_code(const fec::Dvbs2Code& code) {
    return static_cast<std::size_t>(&code - fec::dvbs2_codes().data());
}

}  // namespace

void DeviceLdpcCodes::begin(std::size_t place, std::span<const LdpcFrame> frames) {
    Place& here = places_[place];
    for (Share& share : here) {
        share.frames.clear();
        share.begun = share.under_way = 0;
    }
    for (const LdpcFrame& frame : frames) here[number_of_code(*frame.code)].frames.push_back(&frame);
    for (Share& share : here) {
        if (!share.frames.empty()) begin(share);
    }
}

// Some drivers find out that there is no room when they have to move something there, not before.
void DeviceLdpcCodes::begin(Share& share) {
    for (;;) {
        try {
            if (!share.batch) make_batch(share);
            return send(share);
        } catch (const DeviceMemoryError& error) {
            use_less(error);
            give_up_memory();
        }
    }
}

void DeviceLdpcCodes::use_less(const DeviceMemoryError& error) {
    if (most_frames_ == 1) throw error;
    most_frames_ /= 2;
    shortage_ = fmt::format("batches of at most {} frames, since there was no room for {}: {}", most_frames_,
                            where_.most_frames, error.what());
}

// So that all places get as much: what is under way comes back first.
void DeviceLdpcCodes::give_up_memory() {
    for (Place& place : places_) {
        for (Share& share : place) {
            if (share.under_way > 0) take_back(share);
            share.batch.reset();
        }
    }
}

void DeviceLdpcCodes::make_batch(Share& share) {
    const fec::Dvbs2Code& code = *share.frames.front()->code;
    std::shared_ptr<DeviceLdpc>& ldpc = codes_[number_of_code(code)];
    if (!ldpc)
        ldpc = std::make_shared<DeviceLdpc>(where_.device, code, settings_, std::nullopt, where_.patience);
    share.batch = std::make_unique<DeviceLdpcBatch>(ldpc, most_frames_, where_.memory);
}

// The next ones, as many as there is room for.
void DeviceLdpcCodes::send(Share& share) {
    const auto rest = std::span(share.frames).subspan(share.begun);
    const auto next = rest.first(std::min(rest.size(), share.batch->most_frames()));
    if (where_.tokens && where_.memory == MemoryPolicy::pinned) {
        std::vector<const fec::Llr*> llrs;
        for (const LdpcFrame* frame : next) llrs.push_back(frame->llrs.data());
        share.batch->start(llrs, *where_.tokens);
    } else {
        std::span<fec::Llr> llrs = share.batch->llrs();
        for (const LdpcFrame* frame : next) {
            std::ranges::copy(frame->llrs, llrs.begin());
            llrs = llrs.subspan(frame->llrs.size());
        }
        share.batch->start(next.size());
    }
    share.begun += next.size();
    share.under_way = next.size();
}

bool DeviceLdpcCodes::is_done(std::size_t place) {
    return std::ranges::all_of(places_[place], [this](Share& share) {
        while (!share.is_through()) {
            if (share.under_way > 0 && !share.batch->done()) return false;
            if (share.begun == share.frames.size()) return true;
            go_on(share);
        }
        return true;
    });
}

void DeviceLdpcCodes::end(std::size_t place) {
    for (Share& share : places_[place]) {
        while (!share.is_through()) go_on(share);
    }
}

DeviceBatchTimes DeviceLdpcCodes::times(std::size_t place) {
    DeviceBatchTimes all{};
    for (Share& share : places_[place]) {
        if (share.frames.empty() || !share.batch) continue;
        const DeviceBatchTimes own = share.batch->times();
        all.to_device_us += own.to_device_us;
        all.kernel_us += own.kernel_us;
        all.to_host_us += own.to_host_us;
    }
    return all;
}

void DeviceLdpcCodes::go_on(Share& share) {
    if (share.under_way > 0) take_back(share);
    if (share.begun < share.frames.size()) begin(share);
}

void DeviceLdpcCodes::take_back(Share& share) const {
    share.batch->finish(where_.patience);
    std::span<const std::uint8_t> information = share.batch->information();
    const auto done = std::span(share.frames).subspan(share.begun - share.under_way, share.under_way);
    for (std::size_t i = 0; i < done.size(); ++i) {
        const LdpcFrame& frame = *done[i];
        std::ranges::copy(information.first(frame.information.size()), frame.information.begin());
        information = information.subspan(frame.information.size());
        *frame.result = share.batch->result(i);
    }
    share.under_way = 0;
}

std::shared_ptr<const LdpcOffload> elsewhere(const LdpcOnDevice& device) {
    const auto batches = [device](const fec::LdpcSettings& settings) {
        return std::make_unique<DeviceLdpcCodes>(device, settings);
    };
    return std::make_shared<const LdpcOffload>(
        LdpcOffload{batches, device.most_frames, device.falls_back, device.in_flight});
}

}  // namespace tidemill::dvbs2
