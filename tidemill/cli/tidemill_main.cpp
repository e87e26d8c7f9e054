#include "tidemill/cli/verbs.hpp"

int main(int argc, char** argv) {
    using namespace tidemill::cli;
    Verb program("tidemill", "Runs streaming dataflow programs at full speed on unequal cores.");
    program.footer("Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts");
    add_verbs(program);
    return run_command_line(program, argc, argv, "tidemill " TIDEMILL_VERSION);
}
