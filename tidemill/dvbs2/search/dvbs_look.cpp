#include "tidemill/dvbs2/search/dvbs_look.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tidemill/dvbs2/search/internal/dvbs_code.hpp"
#include "tidemill/dvbs2/search/internal/qpsk_carrier.hpp"

namespace tidemill::dvbs2 {

namespace {

using dsp::Iq;

// EN 300 421, 4.4.1 and 4.4.2: packets of 204 bytes behind the inner code begin with 47, each eighth with B8.
constexpr std::size_t kPacketBits = 204 * 8;
constexpr std::size_t kPackets = 10;
constexpr std::uint8_t kSync = 0x47, kInvertedSync = 0xB8;
constexpr std::size_t kPacketsToInverted = 8;
// One of so many packets may lie behind a wrong phase: 1632 places times 10 (1/128)^9 is 10^-15, and there
// are some hundred tries.
constexpr std::size_t kMostWrong = 1;

// All eight bits that begin at each place, the first on top.
std::vector<std::uint8_t> bytes_at_each(std::span<const std::uint8_t> bits) {
    std::vector<std::uint8_t> bytes(bits.size() < 8 ? 0 : bits.size() - 7);
    for (std::size_t n = 0; n < bytes.size(); ++n)
        for (std::size_t k = 0; k < 8; ++k) bytes[n] = static_cast<std::uint8_t>(bytes[n] << 1 | bits[n + k]);
    return bytes;
}

// Whether packets begin at one of the bytes and so on. A turn by half a cycle inverts all bits, and the two
// sync bytes change places; but there are both, or else something repeats itself that is no packets.
bool has_packets_at(std::span<const std::uint8_t> bytes) {
    std::size_t plain = 0, inverted = 0;
    for (std::size_t packet = 0; packet < kPackets; ++packet) {
        plain += bytes[packet * kPacketBits] == kSync;
        inverted += bytes[packet * kPacketBits] == kInvertedSync;
    }
    const std::size_t fewer = std::min(plain, inverted);
    constexpr std::size_t kMostInverted = (kPackets + kPacketsToInverted - 1) / kPacketsToInverted;
    return plain + inverted + kMostWrong >= kPackets && fewer >= 1 && fewer <= kMostInverted;
}

bool has_packets(std::span<const std::uint8_t> bits) {
    const std::vector<std::uint8_t> bytes = bytes_at_each(bits);
    for (std::size_t begin = 0; begin + (kPackets - 1) * kPacketBits < bytes.size() && begin < kPacketBits;
         ++begin)
        if (has_packets_at(std::span(bytes).subspan(begin))) return true;
    return false;
}

// I and Q of each symbol as they were sent, or changed by a turn of a quarter, or with the spectrum inverted,
// or both; a turn by half makes no difference.
enum class Aspect { as_is, turned, inverted, turned_and_inverted };

std::vector<float> soft_bits_of(std::span<const Iq> symbols, Aspect aspect) {
    std::vector<float> bits;
    bits.reserve(2 * symbols.size());
    for (const Iq symbol : symbols) {
        const bool is_turned = aspect == Aspect::turned || aspect == Aspect::turned_and_inverted;
        const bool is_inverted = aspect == Aspect::inverted || aspect == Aspect::turned_and_inverted;
        const Iq seen = is_inverted ? std::conj(symbol) : symbol;
        bits.push_back(is_turned ? -seen.imag() : seen.real());
        bits.push_back(is_turned ? seen.real() : seen.imag());
    }
    return bits;
}

bool is_of_rate(const internal::DvbsRate& rate, std::span<const float> soft_bits) {
    // A packet more, for it begins anywhere.
    const std::size_t wanted = (kPackets + 1) * kPacketBits * rate.sent_bits() / rate.information_bits();
    for (std::size_t phase = 0; phase < rate.symbols(); ++phase) {
        const auto from = soft_bits.subspan(std::min(2 * phase, soft_bits.size()));
        if (has_packets(decode_dvbs_code(rate, from.first(std::min(wanted, from.size()))))) return true;
    }
    return false;
}

std::optional<std::string_view> look_once(std::span<const Iq> symbols) {
    const std::vector<Iq> still = internal::without_qpsk_carrier(symbols);
    if (still.empty()) return std::nullopt;
    for (const Aspect aspect :
         {Aspect::as_is, Aspect::turned, Aspect::inverted, Aspect::turned_and_inverted}) {
        const std::vector<float> soft_bits = soft_bits_of(still, aspect);
        for (const internal::DvbsRate& rate : internal::kDvbsRates)
            if (is_of_rate(rate, soft_bits)) return rate.name;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string_view> look_for_dvbs(std::span<const Iq> symbols) {
    for (; symbols.size() >= kDvbsLookSymbols; symbols = symbols.subspan(kDvbsLookSymbols))
        if (const auto rate = look_once(symbols.first(kDvbsLookSymbols))) return rate;
    return std::nullopt;
}

}  // namespace tidemill::dvbs2
