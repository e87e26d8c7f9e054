#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace tidemill::bridge {

/// A kind of cores that this machine need not have: how many times longer than on a real core tasks take
/// there.
struct EmulatedKind {
    std::string said;                       ///< in the words of the user: a ratio, or a file
    double ratio = 1;                       ///< of every task that is not named
    std::map<std::string, double> tasks{};  ///< by "module.task" or "module"

    /// Ratio of a task, "module.task": its own, else its module's, else that of all others.
    double ratio_of(std::string_view task) const;
};

/// Kinds of cores by name; those that are not named are real.
struct Emulation {
    std::map<std::string, EmulatedKind> kinds;
};

/// Reads {"ratio": 2.5, "tasks": {"decoder.run": {"ratio": 4.9, "stands_for": "LDPC Decoder.decode_siho"}}}
/// and, optional, "from", the profile that the ratios are of. Throws BridgeError naming `source` and the
/// place in it for anything else, and for ratios below 1.
EmulatedKind parse_emulated_kind(std::string_view text, std::string_view source);

/// Adds a kind: "little=2.5", or "little=FILE" with what parse_emulated_kind() reads. Throws BridgeError.
void add_emulated_kind(Emulation& emulation, std::string_view wish);

/// Several kinds, with commas between them. Throws BridgeError.
Emulation parse_emulation(std::string_view wishes);

/// Description of the emulation, in one line for every report.
std::string to_string(const Emulation& emulation);

}  // namespace tidemill::bridge
