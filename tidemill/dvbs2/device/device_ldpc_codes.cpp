#include "tidemill/dvbs2/device/device_ldpc_codes.hpp"

#include <algorithm>

namespace tidemill::dvbs2 {

namespace {

std::size_t number_of_code(const fec::Dvbs2Code& code) {
    return static_cast<std::size_t>(&code - fec::dvbs2_codes().data());
}

}  // namespace

void DeviceLdpcCodes::begin(std::size_t place, std::span<const LdpcFrame> frames) {
    Place& here = places_[place];
    for (Share& share : here) share.frames.clear();
    for (const LdpcFrame& frame : frames) here[number_of_code(*frame.code)].frames.push_back(&frame);
    for (Share& share : here) {
        if (!share.frames.empty()) begin(share);
    }
}

void DeviceLdpcCodes::begin(Share& share) {
    if (!share.batch) {
        const fec::Dvbs2Code& code = *share.frames.front()->code;
        std::shared_ptr<DeviceLdpc>& ldpc = codes_[number_of_code(code)];
        if (!ldpc)
            ldpc =
                std::make_shared<DeviceLdpc>(where_.device, code, settings_, std::nullopt, where_.patience);
        share.batch = std::make_unique<DeviceLdpcBatch>(ldpc, where_.most_frames, where_.memory);
    }
    std::span<fec::Llr> llrs = share.batch->llrs();
    for (const LdpcFrame* frame : share.frames) {
        std::ranges::copy(frame->llrs, llrs.begin());
        llrs = llrs.subspan(frame->llrs.size());
    }
    share.batch->start(share.frames.size());
}

bool DeviceLdpcCodes::is_done(std::size_t place) {
    return std::ranges::all_of(places_[place],
                               [](Share& share) { return share.frames.empty() || share.batch->done(); });
}

void DeviceLdpcCodes::end(std::size_t place) {
    for (Share& share : places_[place]) {
        if (!share.frames.empty()) end(share);
    }
}

void DeviceLdpcCodes::end(Share& share) const {
    share.batch->finish(where_.patience);
    std::span<const std::uint8_t> information = share.batch->information();
    for (std::size_t i = 0; i < share.frames.size(); ++i) {
        const LdpcFrame& frame = *share.frames[i];
        std::ranges::copy(information.first(frame.information.size()), frame.information.begin());
        information = information.subspan(frame.information.size());
        *frame.result = share.batch->result(i);
    }
}

}  // namespace tidemill::dvbs2
