#include "tidemill/apps/outputs/output_fan.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "tidemill/base/error.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

Json json_of(const OutputAccount& account) {
    const io::BroadcastCounts& clients = account.losses.clients;
    return {{"place", account.place},
            {"failure", account.failure.empty() ? Json() : Json(account.failure)},
            {"bytes_lost", account.losses.bytes},
            {"outages", account.losses.outages},
            {"datagrams_refused", account.losses.refused},
            {"clients", clients.clients},
            {"clients_refused", clients.clients_refused},
            {"clients_slow", clients.clients_slow},
            {"client_bytes_lost", clients.bytes_lost}};
}

std::vector<std::string> warnings_of(const OutputAccount& account) {
    std::vector<std::string> warnings;
    const auto add = [&](const std::string& text) { warnings.push_back(account.place + ": " + text); };
    const OutputLosses& losses = account.losses;
    if (!account.failure.empty()) {
        add(fmt::format("{} bytes lost, for it failed: {}", losses.bytes, account.failure));
    } else if (!account.missing.empty()) {
        add(fmt::format("{} packets of {}", losses.bytes / io::kTsPacketBytes, account.missing));
    } else if (losses.outages > 0) {
        add(fmt::format("{} bytes lost, for it failed {} times and worked again", losses.bytes,
                        losses.outages));
    } else if (losses.bytes > 0) {
        add(fmt::format("{} bytes lost, for it took them too slowly", losses.bytes));
    }
    if (losses.refused > 0)
        add(fmt::format("{} datagrams came to nobody: the network answers that no one listens there",
                        losses.refused));
    if (losses.clients.bytes_lost > 0)
        add(fmt::format("{} clients read too slowly and lost {} bytes", losses.clients.clients_slow,
                        losses.clients.bytes_lost));
    if (losses.clients.clients_refused > 0)
        add(fmt::format("{} clients had no place", losses.clients.clients_refused));
    return warnings;
}

void OutputFan::add(std::string place, std::unique_ptr<ByteOutput> output) {
    places_.push_back({std::move(place), std::move(output)});
}

void OutputFan::add_failed(std::string place, std::string why) {
    last_failure_ = why;
    warn(fmt::format("{} failed: {}", place, why));
    places_.push_back({.name = std::move(place), .output = nullptr, .failure = std::move(why)});
}

void OutputFan::add_missing(std::string place, std::string what) {
    places_.push_back({.name = std::move(place), .output = nullptr, .missing = std::move(what)});
}

template <class Act>
void OutputFan::attempt(Place& place, Act act) {
    try {
        act(*place.output);
    } catch (const Error& error) {
        place.failure = last_failure_ = error.what();
        place.bytes_lost += place.output->bytes_kept_back();
        if (places_.size() > 1) warn(fmt::format("{} failed: {}", place.name, error.what()));
    }
}

void OutputFan::came_at(const SignalTime& time) {
    for (Place& place : places_)
        if (place.works()) place.output->came_at(time);
}

void OutputFan::write(std::span<const std::uint8_t> piece) {
    for (Place& place : places_) {
        if (!place.works()) {
            place.bytes_lost += piece.size();
            continue;
        }
        attempt(place, [&](ByteOutput& output) { output.write(piece); });
    }
}

void OutputFan::close() {
    for (Place& place : places_)
        if (place.works()) attempt(place, [](ByteOutput& output) { output.close(); });
}

bool OutputFan::works() const {
    return std::ranges::any_of(places_, &Place::works);
}

void OutputFan::keep(Archive& archive) {
    for (Place& place : places_) {
        if (!place.output) continue;
        if (place.works() && !archive.gives_back())
            attempt(place, [](ByteOutput& output) { output.flush(); });
        OutputAt at = place.output->at();
        archive("part", at.part)("bytes", at.bytes);
        if (archive.gives_back()) place.output->go_on_at(at);
    }
}

std::vector<std::uint8_t> OutputFan::latest_packets() const {
    constexpr std::uint64_t kMost = 4'000'000 / io::kTsPacketBytes * io::kTsPacketBytes;
    for (const Place& place : places_) {
        const OutputAt at = place.works() ? place.output->at() : OutputAt{};
        if (at.bytes == 0 || !at.part.empty() || !std::filesystem::is_regular_file(place.name)) continue;
        std::vector<std::uint8_t> packets(
            std::min(at.bytes / io::kTsPacketBytes * io::kTsPacketBytes, kMost));
        std::ifstream file(place.name, std::ios::binary);
        file.seekg(static_cast<std::streamoff>(at.bytes - packets.size()));
        file.read(reinterpret_cast<char*>(packets.data()), static_cast<std::streamsize>(packets.size()));
        if (file) return packets;
    }
    return {};
}

std::uint64_t OutputFan::bytes_lost() const {
    const std::vector<OutputAccount> all = accounts();
    const auto best = std::ranges::min_element(all, {}, [](const auto& place) { return place.losses.bytes; });
    return best == all.end() ? 0 : best->losses.bytes;
}

std::vector<OutputAccount> OutputFan::accounts() const {
    std::vector<OutputAccount> accounts;
    for (const Place& place : places_) {
        OutputLosses losses = place.output ? place.output->losses() : OutputLosses{};
        losses.bytes += place.bytes_lost;
        accounts.push_back({place.name, place.failure, losses, place.missing});
    }
    return accounts;
}

}  // namespace tidemill::cli
