#include "tidemill/cli/rx/rx_options.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"

namespace tidemill::cli {

HowToRun how_to_run(const RxOptions& options, bool live) {
    HowToRun how = options.running.how;
    if (live) how.choices.clear();  // what is best for a recording is not, where nothing hurries
    const bool has_device = !options.device.device.empty();
    if (has_device && how.executor == ExecutorKind::automatic) how.executor = ExecutorKind::pipeline;
    return how;
}

void check_for_several(const RxOptions& options) {
    const auto refuse = [](const char* what, const char* why) {
        throw WrongUsage(fmt::format("{} is for one carrier: {}; name it with --carrier N", what, why));
    };
    if (options.iq.any()) refuse("--iq-out", "a band's carriers have no samples of their own to be kept");
    if (!options.device.device.empty()) refuse("--device", "what a device takes is known of one receiver");
    if (!options.checkpoint.file.empty()) refuse("--checkpoint", "a band's tuners cannot be kept");
    if (options.reception.rolloff.is_auto() || options.reception.gold_code.is_auto())
        refuse("auto", "of all the roll-off is taken as their frames tell it; give --gold a number");
    for (const std::string& place : options.outputs.ip.places)
        if (place.starts_with("tun:")) refuse(place.c_str(), "there is one interface of that name");
    outputs_of(options.outputs, 1);  // before anything is searched
}

RxOutputOptions outputs_of(const RxOutputOptions& all, std::size_t carrier) {
    RxOutputOptions own = all;
    for (std::string& place : own.packets) place = place_of_carrier(place, carrier);
    for (std::string& place : own.ip.places) place = place_of_carrier(place, carrier);
    own.bbframes = place_of_carrier(all.bbframes, carrier);
    own.generic = place_of_carrier(all.generic, carrier);
    return own;
}

std::string place_of_carrier(const std::string& place, std::size_t carrier) {
    if (place.empty()) return place;
    if (is_standard_stream(place))
        throw WrongUsage("--carrier all writes a file for each carrier: name one with --output");
    if (is_network_output(place)) {
        const auto own = place_of_stream(place, static_cast<int>(carrier) - 1);
        if (!own)
            throw WrongUsage(
                fmt::format("--output {}: there is no such port for carrier {}", place, carrier));
        return *own;
    }
    const std::filesystem::path path(place);
    return (path.parent_path() / fmt::format("{}.{}{}", path.stem().string(), fmt::format("c{}", carrier),
                                             path.extension().string()))
        .string();
}

}  // namespace tidemill::cli
