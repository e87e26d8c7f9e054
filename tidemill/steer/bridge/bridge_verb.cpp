#include "tidemill/steer/bridge/bridge_verb.hpp"

#include <memory>

#include "tidemill/base/plain_text.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/steer/bridge/bridge_run.hpp"
#include "tidemill/steer/status_socket.hpp"

namespace tidemill::cli {

namespace {

void add_bridge_run(Verb& parent) {
    auto options = std::make_shared<BridgeRunOptions>();
    Verb& verb = parent.verb(
        "run", "Steer the threads of ordinary programs: each on the kind of core where it belongs");
    verb.footer(
        "Without --pid, --cgroup or a command behind --, all processes are steered. Affinities are restored "
        "at the end,\n"
        "and at the next start where a daemon was killed.\n"
        "Example: tidemill bridge run --slower little=2.5 -- make -j8\n"
        "         tidemill bridge run --pid 4711 --kinds big=4-7,little=0-3 --factors known.json --dry-run");
    verb.option("--pid", options->processes, "A process, with what it begins").in(at_least(1));
    verb.option("--cgroup", options->group, "The folder of a control group, with those below it");
    verb.command(options->command);
    verb.heading("What is known");
    verb.option("--kinds", options->kinds, "Core kinds by hand, big first, as logical PU numbers");
    verb.parsed("--slower", options->slower, bridge::parse_emulation,
                "How many times slower programs are on a kind than on the first: KIND=RATIO, or KIND=FILE "
                "with a ratio "
                "for each name; several with commas");
    verb.file(
        "--factors", options->factors,
        [](const std::string& path) { return std::optional(bridge::read_factor_file(path)); },
        "Times of programs on each kind, from runs before");
    verb.option(
            "--remember", options->remember,
            "Go on from what this file knows of programs, if it is there, and write what is known in the end")
        .is(Kind::output_file)
        .excludes("--factors");
    verb.option("--counters", options->counters,
                "Source of the threads' speeds: the kernel's auto, none, or replay:FILE");
    verb.heading("How");
    verb.option("--interval", options->interval_s, "Between two looks")
        .is(Kind::seconds)
        .in(between(0.05, 0.25));
    verb.option("--fair", options->fair,
                "No thread becomes more than this part slower than without steering, over seconds")
        .in(between(0.05, 10));
    verb.option("--seconds", options->seconds, "End after so long").is(Kind::seconds).in(above(0));
    verb.flag("--dry-run", options->dry_run, "Tell what would be changed, and change nothing");
    verb.flag("--verbose", options->verbose, "Tell each change");
    verb.option("--journal", options->journal,
                "What has to be restored is kept here, not in the system's place")
        .is(Kind::output_file);
    verb.option("--metrics", options->metrics, "Write numbers for Prometheus to this file every two seconds")
        .is(Kind::output_file);
    verb.option("--name", options->name,
                "Of this daemon, where a machine needs several: none knows of the others");
    verb.flag("--json", options->json, "The report at the end as one JSON object");
    verb.does([options] { return run_bridge(*options); });
}

void add_bridge_status(Verb& parent) {
    struct Options {
        std::string name = kDaemonName;
        bool json = false;
        bool metrics = false;
    };
    auto options = std::make_shared<Options>();
    Verb& verb = parent.verb("status", "Show what the daemon of this machine does");
    verb.footer("Example: tidemill bridge status --json");
    verb.option("--name", options->name, "Of the daemon");
    verb.flag("--json", options->json, "One JSON object on standard output").excludes("--metrics");
    verb.flag("--metrics", options->metrics, "Numbers for Prometheus");
    verb.does([options] {
        const auto form = options->json      ? steer::StatusForm::json
                          : options->metrics ? steer::StatusForm::metrics
                                             : steer::StatusForm::text;
        print("{}", plain_text(steer::ask_status(options->name, form)));
        return kDone;
    });
}

}  // namespace

void add_bridge(Verb& program) {
    Verb& verb = program.verb("bridge", "Ordinary programs on unequal cores");
    add_bridge_run(verb);
    add_bridge_status(verb);
}

}  // namespace tidemill::cli
