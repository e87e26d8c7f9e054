#include "tidemill/io/transport/ts_services.hpp"

#include <algorithm>

namespace tidemill::io {
namespace {

constexpr std::uint16_t kAssociationPid = 0;
constexpr std::uint8_t kAssociationTable = 0, kMapTable = 2;
constexpr std::size_t kMostPids = 64;  // of a service

std::uint16_t pid_at(std::span<const std::uint8_t> at) {
    return static_cast<std::uint16_t>((at[0] & 0x1f) << 8 | at[1]);
}

std::size_t length_at(std::span<const std::uint8_t> at) {
    return static_cast<std::size_t>(at[0] & 0x0f) << 8 | at[1];
}

}  // namespace

void TsServices::look(std::span<const std::uint8_t> packets) {
    const std::lock_guard lock(mutex_);
    names_.look(packets);
    for (; packets.size() >= kTsPacketBytes; packets = packets.subspan(kTsPacketBytes))
        count(packets.first(kTsPacketBytes));
}

void TsServices::count(std::span<const std::uint8_t> packet) {
    if ((packet[1] & 0x80) != 0) return;  // damaged: nothing in it can be trusted
    const std::uint16_t pid = pid_of(packet);
    ++packets_[pid];
    if (pid == kAssociationPid) {
        association_.add(packet);
        while (const auto table = association_.next()) read_association(*table);
    }
    for (auto& [number, programme] : programmes_) {
        if (programme.map_pid != pid) continue;
        programme.sections.add(packet);
        while (const auto table = programme.sections.next()) {
            // Several programmes may have their maps on one PID.
            if ((*table)[0] == kMapTable && table->size() >= 16 && ((*table)[3] << 8 | (*table)[4]) == number)
                read_map(*table, programme);
        }
    }
}

void TsServices::read_association(std::span<const std::uint8_t> table) {
    if (table[0] != kAssociationTable) return;
    std::map<int, Programme> known;
    known.swap(programmes_);
    for (std::size_t at = 8; at + 8 <= table.size() && programmes_.size() < kMostServices; at += 4) {
        const int number = table[at] << 8 | table[at + 1];
        const std::uint16_t pid = pid_at(table.subspan(at + 2));
        if (number == 0) continue;
        const auto before = known.find(number);
        if (before != known.end() && before->second.map_pid == pid) {
            programmes_[number] = std::move(before->second);
        } else {
            programmes_[number].map_pid = pid;
        }
    }
}

void TsServices::read_map(std::span<const std::uint8_t> table, Programme& programme) {
    constexpr std::size_t kHeader = 12, kCrc = 4;
    std::size_t at = kHeader + length_at(table.subspan(10));
    std::vector<std::uint16_t> pids{programme.map_pid};
    for (; at + 5 + kCrc <= table.size() && pids.size() < kMostPids;
         at += 5 + length_at(table.subspan(at + 3)))
        pids.push_back(pid_at(table.subspan(at + 1)));
    std::ranges::sort(pids);
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    programme.pids = std::move(pids);
}

std::vector<TsService> TsServices::services() const {
    const std::lock_guard lock(mutex_);
    std::vector<TsService> services;
    for (const auto& [number, programme] : programmes_) {
        TsService& service = services.emplace_back(TsService{.number = number});
        for (const std::uint16_t pid : programme.pids) service.packets += packets_[pid];
    }
    for (const auto& [number, name] : names_.names()) {
        auto known = std::ranges::find(services, number, &TsService::number);
        if (known == services.end() && services.size() == kMostServices) continue;
        if (known == services.end()) known = services.insert(services.end(), TsService{.number = number});
        known->name = name;
    }
    std::ranges::sort(services, {}, &TsService::number);
    return services;
}

}  // namespace tidemill::io
