#include "tidemill/apps/reception/receivers.hpp"

#include <utility>

#include <fmt/format.h>

namespace tidemill::cli {

namespace {

std::vector<std::string> names_of_groups(const std::vector<dvbs2::CarrierOfBand>& carriers) {
    std::vector<std::string> names;
    for (const dvbs2::CarrierOfBand& carrier : carriers) names.push_back(carrier.name + "/");
    return names;
}

}  // namespace

Receivers::Receivers(io::SampleSource& source, const dvbs2::ReceiverConfig& config, dvbs2::RxOutputs outputs)
    : all_(std::in_place_type<dvbs2::Receiver>, source, config, std::move(outputs)), names_(1) {}

Receivers::Receivers(io::SampleSource& source, std::vector<dvbs2::CarrierOfBand> carriers)
    : Receivers(source, names_of_groups(carriers), std::move(carriers)) {}

Receivers::Receivers(io::SampleSource& source, std::vector<std::string> names,
                     std::vector<dvbs2::CarrierOfBand>&& carriers)
    : all_(std::in_place_type<dvbs2::BandReceiver>, source, std::move(carriers)), names_(std::move(names)) {}

Graph& Receivers::graph() {
    return std::visit([](auto& all) -> Graph& { return all.graph(); }, all_);
}

dvbs2::ReceptionNow Receivers::now(std::size_t carrier) const {
    if (const auto* one = std::get_if<dvbs2::Receiver>(&all_)) return one->now();
    return std::get<dvbs2::BandReceiver>(all_).now(carrier);
}

FramesHeard Receivers::heard() const {
    FramesHeard heard;
    for (std::size_t k = 0; k < carriers(); ++k) {
        const dvbs2::ReceptionNow now = this->now(k);
        heard.locked += now.locked ? 1 : 0;
        heard.with_frames += now.totals.frames > 0 ? 1 : 0;
        heard.frames += now.totals.frames;
        heard.frames_bad += now.totals.frames_bad;
        heard.info_bits += now.totals.info_bits;
    }
    return heard;
}

dvbs2::ReceptionReport Receivers::report(std::size_t carrier) const {
    if (const auto* one = std::get_if<dvbs2::Receiver>(&all_)) return one->report();
    return std::get<dvbs2::BandReceiver>(all_).report(carrier);
}

dvbs2::LdpcDeviceUse Receivers::ldpc_device_use() const {
    const auto* one = std::get_if<dvbs2::Receiver>(&all_);
    return one ? one->ldpc_device_use() : dvbs2::LdpcDeviceUse{};
}

std::uint64_t Receivers::info_bits() const {
    if (const auto* one = std::get_if<dvbs2::Receiver>(&all_)) return one->totals().info_bits;
    return std::get<dvbs2::BandReceiver>(all_).info_bits();
}

std::string Receivers::name_of(std::size_t carrier, std::string_view name) const {
    return fmt::format("{}{}", names_.at(carrier), name);
}

std::string Receivers::reading_task() const {
    return std::holds_alternative<dvbs2::Receiver>(all_) ? "source.read" : "band.read";
}

dvbs2::RxOutputs silent_outputs() {
    return {.streams = {.packets = [](auto, auto) {}}};
}

}  // namespace tidemill::cli
