#include <CLI/CLI.hpp>

#include "tidemill/cli/command.hpp"

int main(int argc, char** argv) {
    using namespace tidemill::cli;
    CLI::App program{
        "Runs streaming dataflow programs at full speed on unequal cores.\n"
        "Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts",
        "tidemill"};
    program.require_subcommand(1);
    program.set_version_flag("--version", "tidemill " TIDEMILL_VERSION);
    Command chosen;
    for (const AddVerb add : {add_topo, add_profile, add_schedule, add_front, add_calibrate, add_simulate,
                              add_run, add_tasks, add_dvbs2, add_reproduce, add_bench}) {
        add(program, chosen);
    }
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? kDone : kWrongUsage;
    }
    return run_command(chosen);
}
