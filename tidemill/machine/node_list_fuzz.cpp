#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/machine/internal/core_kinds.hpp"
#include "tidemill/machine/node_list.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace {

using namespace tidemill;

// Four cores of two threads, four of one.
const std::vector<Core>& machine() {
    static const std::vector<Core> cores = [] {
        std::vector<Core> all;
        for (int core = 0, pu = 0; core < 8; ++core) {
            all.push_back({.number = core});
            for (int thread = 0; thread < (core < 4 ? 2 : 1); ++thread, ++pu)
                all.back().pus.push_back({pu, 11 - pu});
        }
        return all;
    }();
    return cores;
}

std::vector<std::string> lines(std::string_view text) {
    std::vector<std::string> all;
    for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
        end = text.find('\n');
        all.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
    }
    return all;
}

}  // namespace

/// Any text is a list of nodes of this machine, each once, or a PlatformError; likewise kinds by hand.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        std::set<int> seen;
        for (const PuSet& node : parse_node_list(machine(), lines(text)))
            for (const Pu& pu : node)
                if (pu.number < 0 || pu.number > 11 || !seen.insert(pu.number).second) std::abort();
    } catch (const PlatformError&) {
    }
    try {
        for (const auto& kind : internal::kinds_by_hand(machine(), text).kinds)
            if (kind.name.empty()) std::abort();
    } catch (const PlatformError&) {
    }
    return 0;
}
