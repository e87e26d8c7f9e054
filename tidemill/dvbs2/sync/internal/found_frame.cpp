#include "tidemill/dvbs2/sync/internal/found_frame.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tidemill::dvbs2::internal {

namespace {

// One kind of frame of each length.
std::vector<Pls> frame_kinds() {
    std::vector<Pls> kinds;
    for (int code = 0; code < 128; ++code) {
        const Pls pls = Pls::from_code(code);
        const auto same_length = [&](const Pls& k) { return layout_of(k).symbols == layout_of(pls).symbols; };
        if (pls.is_defined() && std::ranges::none_of(kinds, same_length)) kinds.push_back(pls);
    }
    return kinds;
}

}  // namespace

void copy_upright(std::span<const Iq> from, bool inverted, std::span<Iq> to) {
    if (inverted) {
        std::ranges::transform(from, to.begin(), [](Iq s) { return std::conj(s); });
    } else {
        dsp::copy_samples(from, to);
    }
}

HeaderHit examine(const SymbolStore& kept, std::uint64_t place) {
    return examine_header(kept.at(place, kHeaderSymbols).first<kHeaderSymbols>());
}

std::optional<FoundFrame> frame_near(const SymbolStore& kept, std::uint64_t place,
                                     const HeaderQuery& wanted) {
    for (const int slip : wanted.slips) {
        const std::uint64_t start = place + static_cast<std::uint64_t>(static_cast<std::int64_t>(slip));
        if (start < kept.begin() || start + kHeaderSymbols > kept.end()) continue;
        std::array<Iq, kHeaderSymbols> header;
        copy_upright(kept.at(start, kHeaderSymbols), wanted.inverted, header);
        const HeaderMatch match = match_header(header, static_cast<float>(wanted.frequency));
        const Pls pls = Pls::from_code(match.code);
        if (match.quality >= wanted.quality && pls.is_defined())
            return FoundFrame{start, layout_of(pls).symbols, pls, match.quality, true, wanted.inverted};
    }
    return std::nullopt;
}

int header_symbols_left(const SymbolStore& kept, std::uint64_t place) {
    return kHeaderSymbols - static_cast<int>(std::ranges::count(kept.at(place, kHeaderSymbols), Iq{}));
}

DamagedHeader remains_at(const SymbolStore& kept, std::uint64_t place, bool inverted, double frequency) {
    std::array<Iq, kHeaderSymbols> header;
    copy_upright(kept.at(place, kHeaderSymbols), inverted, header);
    return {header, frequency};
}

std::optional<FoundFrame> frame_before(const SymbolStore& kept, std::uint64_t floor, const FoundFrame& next,
                                       double frequency) {
    static const std::vector<Pls> kKinds = frame_kinds();
    for (const Pls& kind : kKinds) {
        const auto length = static_cast<std::uint64_t>(layout_of(kind).symbols);
        if (next.start < std::max(floor, kept.begin()) + length) continue;
        const auto found =
            frame_near(kept, next.start - length, {frequency, next.inverted, kSearchQuality, kNoSlip});
        if (found && found->end() == next.start) return found;
    }
    return std::nullopt;
}

}  // namespace tidemill::dvbs2::internal
