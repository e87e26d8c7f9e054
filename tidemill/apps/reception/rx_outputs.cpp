#include "tidemill/apps/reception/rx_outputs.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/options/option.hpp"

namespace tidemill::cli {

StreamSelection parse_isi(const std::string& text) {
    if (text == "all") return {.all = true};
    const auto stream = io::whole_number<std::uint8_t>(text);
    if (!stream) {
        throw WrongUsage(fmt::format("--isi {}: give the number of an input stream, 0 to 255, or all", text));
    }
    return {.only = stream};
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
    return (path.parent_path() /
            fmt::format("{}.c{}{}", path.stem().string(), carrier, path.extension().string()))
        .string();
}

void check_roll(const RxOutputOptions& options) {
    if (options.roll.empty()) return;
    const auto sizes = std::ranges::count_if(options.roll, [](const auto& limit) { return limit.bytes > 0; });
    if (sizes > 1 || options.roll.size() - static_cast<std::size_t>(sizes) > 1)
        throw WrongUsage("--roll: give one time, one size, or one of each");
    const auto may_roll = [](const std::string& place) {
        return !is_standard_stream(place) && !is_network_output(place);
    };
    if (!std::ranges::any_of(options.places(), may_roll))
        throw WrongUsage("--roll: nothing goes into a file: give one with --output");
}

OutputStyle RxOutputOptions::style(std::stop_token hurry) const {
    OutputStyle style{.network_mbps = udp_mbps,
                      .paced = paced,
                      .live = live,
                      .when_full = live ? when_full : io::WhenFull::wait,
                      .hurry = std::move(hurry)};
    for (const io::RollLimits& limit : roll) {
        if (limit.bytes > 0) style.roll.bytes = limit.bytes;
        if (limit.age.count() > 0) style.roll.age = limit.age;
    }
    return style;
}

std::vector<std::string> RxOutputOptions::places() const {
    std::vector<std::string> all = packets;
    all.insert(all.end(), {bbframes, generic});
    all.insert(all.end(), ip.places.begin(), ip.places.end());
    std::erase(all, "");
    return all;
}

bool RxOutputOptions::takes_standard_output() const {
    return std::ranges::any_of(places(), [](const std::string& place) { return is_standard_stream(place); });
}

RxOutputWriter::RxOutputWriter(const RxOutputOptions& options, std::vector<io::TunDevice> interfaces)
    : options_(options),
      style_(options.style(hurry_.get_token())),
      choice_{options.streams.all, options.streams.only, options.damaged} {
    const auto is_output = [](const std::string& place) { return is_standard_stream(place); };
    if (choice_.all && std::ranges::any_of(options.packets, is_output))
        throw WrongUsage("--isi all writes a file for each input stream: name one with --output");
    if (!choice_.all)
        for (const std::string& place : options.packets)
            packets_[0].add(place, open_output(place, style_, false));
    if (!options.bbframes.empty())
        bbframes_.add(options.bbframes, open_output(options.bbframes, style_, true));
    if (!options.generic.empty()) generic_.add(options.generic, open_output(options.generic, style_, true));
    if (!options.ip.places.empty())
        ip_ = std::make_unique<IpOutputs>(options.ip, style_, std::move(interfaces));
}

dvbs2::RxOutputs RxOutputWriter::outputs() {
    dvbs2::RxOutputs outputs;
    outputs.choice = choice_;
    outputs.may_wait = style_.paced && style_.when_full == io::WhenFull::wait &&
                       std::ranges::any_of(options_.places(), is_network_output);
    outputs.streams.packets = [this](auto packets, std::uint8_t stream) { write_packets(packets, stream); };
    outputs.keep = [this](Archive& archive) { keep(archive); };
    if (!generic_.empty())
        outputs.streams.generic = [this](auto bytes, std::uint8_t) { write_to(generic_, bytes); };
    if (ip_)
        outputs.streams.fields = [this](auto field, std::uint8_t stream) {
            look_for_ip([&] { ip_->look_at_field(field, stream); });
        };
    const bool stamps = options_.symbol_rate_hz > 0;
    if (!bbframes_.empty() || options_.also.frames || stamps) {
        outputs.frames = [this, stamps](const dvbs2::ReceivedFrame& frame) {
            if (stamps) stamp(frame);
            if (frame.good) write_to(bbframes_, frame.bbframe);
            if (options_.also.frames) options_.also.frames(frame);
        };
    }
    return outputs;
}

// Its packets come next.
void RxOutputWriter::stamp(const dvbs2::ReceivedFrame& frame) {
    const SignalTime time{.from_s = frame.from_s, .lasts_s = frame.lasts_s};
    for (auto& [stream, places] : packets_) places.came_at(time);
    bbframes_.came_at(time);
    generic_.came_at(time);
    if (ip_) ip_->places().came_at(time);
    came_at_ = time;
}

void RxOutputWriter::keep(Archive& archive) {
    std::vector<std::uint8_t> streams;
    for (const auto& [stream, places] : packets_) streams.push_back(static_cast<std::uint8_t>(stream));
    archive.expect("bbframes", !bbframes_.empty()).expect("generic", !generic_.empty());
    archive.expect("packets", options_.packets.size()).expect("ip", options_.ip.places.size());
    archive("streams", streams)("monitored", monitored_);
    for (const std::uint8_t stream : streams) packet_places(choice_.all ? stream : 0).keep(archive);
    bbframes_.keep(archive);
    generic_.keep(archive);
    if (ip_) ip_->places().keep(archive);
    if (archive.gives_back() && style_.live && monitored_)
        monitor_->go_on_behind(packet_places(choice_.all ? *monitored_ : 0).latest_packets());
}

void RxOutputWriter::write_packets(std::span<const std::uint8_t> packets, std::uint8_t stream) {
    if (!monitored_) monitored_ = stream;
    if (monitored_ == stream) monitor_->look(packets);
    if (options_.also.streams.packets) options_.also.streams.packets(packets, stream);
    if (ip_) look_for_ip([&] { ip_->look_at_packets(packets, stream); });
    if (options_.packets.empty()) return;
    OutputFan& places = packet_places(choice_.all ? stream : 0);
    if (!places.works() && places.last_failure().empty())
        not_sent_[stream] += packets.size() / io::kTsPacketBytes;
    write_to(places, packets);
}

void RxOutputWriter::write_to(OutputFan& places, std::span<const std::uint8_t> piece) {
    const bool worked = places.works();
    places.write(piece);
    if (worked && !places.works()) stop_without_places();
}

template <class Look>
void RxOutputWriter::look_for_ip(Look look) {
    const bool worked = ip_->places().works();
    look();
    if (worked && !ip_->places().works()) stop_without_places();
}

// No output is left that could get anything.
void RxOutputWriter::stop_without_places() const {
    std::string failure;
    for (const OutputFan* places : all_places()) {
        if (places->works()) return;
        if (!places->last_failure().empty()) failure = places->last_failure();
    }
    if (!failure.empty()) throw JobFailed(failure);
}

std::vector<const OutputFan*> RxOutputWriter::all_places() const {
    std::vector<const OutputFan*> all{&bbframes_, &generic_};
    for (const auto& [stream, places] : packets_) all.push_back(&places);
    if (ip_) all.push_back(&ip_->places());
    return all;
}

// The number of a stream comes from the air: one without a place costs its own packets, not the others'.
OutputFan& RxOutputWriter::packet_places(int stream) {
    const auto found = packets_.find(stream);
    if (found != packets_.end()) return found->second;
    OutputFan& places = packets_[stream];
    for (const std::string& place : options_.packets) add_place_of(stream, place, places);
    if (came_at_) places.came_at(*came_at_);
    if (!places.works()) stop_without_places();
    return places;
}

void RxOutputWriter::add_place_of(int stream, const std::string& base, OutputFan& places) const {
    const auto place = place_of_stream(base, stream);
    if (!place) {
        places.add_missing(base,
                           fmt::format("input stream {} not sent: its port would lie beyond 65535", stream));
        return;
    }
    try {
        places.add(*place, open_output(*place, style_, false));
    } catch (const JobFailed& error) {
        places.add_failed(*place, error.what());
    }
}

void RxOutputWriter::close() {
    for (auto& [stream, places] : packets_) places.close();
    bbframes_.close();
    generic_.close();
    if (ip_) ip_->places().close();
    stop_without_places();
}

std::uint64_t RxOutputWriter::packet_bytes_lost() const {
    std::uint64_t bytes = 0;
    for (const auto& [stream, places] : packets_) bytes += places.bytes_lost();
    return bytes;
}

std::vector<OutputAccount> RxOutputWriter::accounts() const {
    std::vector<OutputAccount> all;
    for (const OutputFan* places : all_places()) {
        const auto accounts = places->accounts();
        all.insert(all.end(), accounts.begin(), accounts.end());
    }
    return all;
}

}  // namespace tidemill::cli
