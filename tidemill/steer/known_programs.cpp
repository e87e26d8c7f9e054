#include "tidemill/steer/known_programs.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {

using bridge::Factor;
using bridge::Quality;

bridge::Factor known_factor(const bridge::FactorFile& file, const std::string& program,
                            const std::string& kind, const std::string& first_kind) {
    const bridge::KnownTask* task = file.find(program);
    if (task == nullptr) task = file.find(program.substr(0, program.find('.')));
    if (task == nullptr) return {};
    const auto there = task->kinds.find(kind);
    const auto first = task->kinds.find(first_kind);
    if (there == task->kinds.end() || first == task->kinds.end() || first->second.us <= 0) return {};
    return {there->second.us / first->second.us, std::min(there->second.quality, first->second.quality), 0};
}

KnownPrograms::KnownPrograms(std::vector<std::string> kinds, bridge::Emulation slower,
                             std::optional<bridge::FactorFile> file)
    : kinds_(std::move(kinds)), slower_(std::move(slower)), file_(std::move(file)) {
    for (const auto& [kind, ratio] : slower_.kinds)
        if (kind == kinds_.front() || std::ranges::count(kinds_, kind) == 0)
            throw SteerError(fmt::format("'{}' cannot be slower: give another kind than the first of {}",
                                         kind, fmt::join(kinds_, ", ")));
}

std::vector<Factor> KnownPrograms::factors_of(const std::string& program) const {
    std::vector<Factor> factors = {{}};
    for (std::size_t kind = 1; kind < kinds_.size(); ++kind) {
        factors.push_back(factor(program, kinds_[kind]));
        if (factors.back().quality != Quality::absent) factors.front().quality = Quality::measured;
    }
    return factors;
}

Factor KnownPrograms::factor(const std::string& program, const std::string& kind) const {
    const Factor known = file_ ? known_factor(*file_, program, kind, kinds_.front()) : Factor{};
    if (known.quality != Quality::absent) return known;
    const auto ratio = slower_.kinds.find(kind);
    if (ratio == slower_.kinds.end()) return {};
    return {ratio->second.ratio_of(program), Quality::estimated, 0};
}

}  // namespace tidemill::steer
