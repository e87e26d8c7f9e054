#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tidemill/apps/transmission/frame_plan.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/options/number_list.hpp"
#include "tidemill/options/per_kind.hpp"
#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/tuning/profile/platform_here.hpp"

namespace {

using namespace tidemill;

template <class Parse>
void try_to(Parse parse) {
    try {
        parse();
    } catch (const cli::WrongUsage&) {
    } catch (const ScheduleError&) {
    } catch (const PlatformError&) {
    }
}

void expect(bool right) {
    if (!right) std::abort();
}

void parse_numbers(const std::string& text) {
    try_to([&] {
        for (const double number : cli::number_list(text, "--list")) expect(std::isfinite(number));
    });
    try_to([&] {
        for (const auto& [kind, number] : cli::parse_per_kind(text, "--kinds"))
            expect(!kind.empty() && std::isfinite(number));
    });
}

void parse_cores(const std::string& text) {
    static const Topology machine = Topology::load({.machine = TopologySource::Machine::kSynthetic,
                                                    .description = "core:4 pu:1",
                                                    .kinds = "big=0-1,little=2-3"});
    try_to([&] { expect(cores_here(parse_platform(text), machine).big <= 2); });
    try_to([&] {  // kinds of which there are no cores are not listed
        const std::string told = to_string(parse_platform(text));
        expect(to_string(parse_platform(told)) == told);
    });
    try_to([&] { parse_watts(text); });
}

void parse_plan(const std::string& text) {
    static const std::vector<dvbs2::InputStream> streams{{.number = 0}, {.number = 7}};
    try_to([&] {
        const auto plan = cli::parse_frame_plan(text, {10, dvbs2::FrameSize::short_, true}, streams);
        expect(plan.size() <= 1'000'000);
    });
    try_to([&] { expect(cli::modcod_of(text).number > 0); });
}

}  // namespace

/// Any text of an option is read to finite numbers, or refused in the words of the command line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    parse_numbers(text);
    parse_cores(text);
    parse_plan(text);
    return 0;
}
