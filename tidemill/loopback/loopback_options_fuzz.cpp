// Arguments of a device: whatever stands in them, they are read or refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tidemill/loopback/loopback_options.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::loopback;
    std::string text(reinterpret_cast<const char*>(data), size);
    std::map<std::string, std::string> arguments;
    while (!text.empty()) {
        const std::string one = text.substr(0, text.find(','));
        const std::size_t equals = one.find('=');
        if (equals != std::string::npos) arguments[one.substr(0, equals)] = one.substr(equals + 1);
        text.erase(0, one.size() + 1);
    }
    try {
        const LoopbackOptions options = parse_loopback(arguments);
        for (const auto& list : {options.overflows, options.timeouts, options.unplugged})
            for (const Stretch& each : list)
                if (!(each.at_s >= 0 && each.lasts_s >= 0)) __builtin_trap();
        if (options.air.empty() || options.air.find('/') != std::string::npos) __builtin_trap();
    } catch (const LoopbackError&) {
    }
    return 0;
}
