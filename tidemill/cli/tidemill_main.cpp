#include "tidemill/cli/outside_verb.hpp"
#include "tidemill/cli/verbs.hpp"

int main(int argc, char** argv) {
    using namespace tidemill::cli;
    Verb program("tidemill", "Runs streaming dataflow programs at full speed on unequal cores.");
    program.footer(
        "Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts\n"
        "Any other verb X is the program tidemill-X beside this one or on the path: Python's package brings "
        "some.");
    add_verbs(program);
    become_program_of_verb(program, argc, argv);
    return run_command_line(program, argc, argv, "tidemill " TIDEMILL_VERSION);
}
