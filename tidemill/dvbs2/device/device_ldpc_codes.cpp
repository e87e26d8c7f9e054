#include "tidemill/dvbs2/device/device_ldpc_codes.hpp"

#include <algorithm>

namespace tidemill::dvbs2 {

void DeviceLdpcCodes::decode(std::span<const LdpcFrame> frames) {
    for (Share& share : shares_) share.frames.clear();
    for (const LdpcFrame& frame : frames) {
        const auto code = static_cast<std::size_t>(frame.code - fec::dvbs2_codes().data());
        shares_[code].frames.push_back(&frame);
    }
    for (Share& share : shares_) {
        if (!share.frames.empty()) start(share);
    }
    for (Share& share : shares_) {
        if (!share.frames.empty()) finish(share);
    }
}

void DeviceLdpcCodes::start(Share& share) {
    if (!share.batch) {
        const auto ldpc = std::make_shared<DeviceLdpc>(where_.device, *share.frames.front()->code, settings_);
        share.batch = std::make_unique<DeviceLdpcBatch>(ldpc, where_.most_frames, where_.memory);
    }
    std::span<fec::Llr> llrs = share.batch->llrs();
    for (const LdpcFrame* frame : share.frames) {
        std::ranges::copy(frame->llrs, llrs.begin());
        llrs = llrs.subspan(frame->llrs.size());
    }
    share.batch->start(share.frames.size());
}

void DeviceLdpcCodes::finish(Share& share) {
    share.batch->finish();
    std::span<const std::uint8_t> information = share.batch->information();
    for (std::size_t i = 0; i < share.frames.size(); ++i) {
        const LdpcFrame& frame = *share.frames[i];
        std::ranges::copy(information.first(frame.information.size()), frame.information.begin());
        information = information.subspan(frame.information.size());
        *frame.result = share.batch->result(i);
    }
}

}  // namespace tidemill::dvbs2
