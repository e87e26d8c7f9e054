#include <algorithm>
#include <iterator>
#include <string_view>

#include "tidemill/cli/licences.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/gpu/devices_here.hpp"
#include "tidemill/options/outside_verb.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace {

// Verbs of houses that this program was built without, behind an empty one.
constexpr std::string_view kLeftOut[] = {
    "",
#ifndef TIDEMILL_LAB
    "simulate", "rehearse", "tasks", "reproduce", "bench",
#endif
#ifndef TIDEMILL_STEER
    "bridge",
#endif
};

}  // namespace

int main(int argc, char** argv) {
    using namespace tidemill::cli;
    Verb program("tidemill", "Runs streaming dataflow programs at full speed on unequal cores.");
    program.footer(
        "Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts\n"
        "Any other verb X is the program tidemill-X beside this one or on the path: Python's package brings "
        "some.\n"
        "The licence, and those of all that is in the program: tidemill --licences");
#ifdef TIDEMILL_GPU
    devices() = devices_here();
#endif
    add_verbs(program);
    if (argc == 2 && std::string_view(argv[1]) == "--licences") {
        print(licences());
        return kDone;
    }
    become_program_of_verb(program, argc, argv);
    if (argc > 1 && std::ranges::find(kLeftOut, std::string_view(argv[1])) != std::end(kLeftOut)) {
        tell("tidemill {}: this program was built without it: ./x build brings all\n", argv[1]);
        return kWrongUsage;
    }
    return run_command_line(program, argc, argv, "tidemill " TIDEMILL_VERSION);
}
