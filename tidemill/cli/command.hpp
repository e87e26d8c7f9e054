#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "tidemill/error.hpp"
#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill::cli {

/// What a verb ends with.
enum ExitStatus : int { kDone = 0, kJobFailed = 1, kWrongUsage = 2, kUnusableInput = 3 };

/// The job was understood and failed: no signal, a full disk.
struct JobFailed : Error {
    using Error::Error;
};

/// The command line asks for what cannot be.
struct WrongUsage : Error {
    using Error::Error;
};

/// What `read` returns; what it finds wrong is wrong usage of an option of the command line.
template <class Read>
auto usage_of(std::string_view option, Read read) {
    try {
        return read();
    } catch (const ScheduleError& error) {
        throw WrongUsage(std::string(option) + ": " + error.what());
    }
}

/// Puts the options that `add` adds to `verb` under a heading of their own in its help.
template <class Add>
void under_heading(CLI::App& verb, const std::string& heading, Add add) {
    const std::string before = verb.option_defaults()->get_group();
    verb.option_defaults()->group(heading);
    add();
    verb.option_defaults()->group(before);
}

/// What the command line chose to do; returns an exit status.
using Command = std::function<int()>;

/// Adds a verb with its options to `program`; when the verb is given, it sets `chosen`.
using AddVerb = void (*)(CLI::App& program, Command& chosen);

void add_topo(CLI::App& program, Command& chosen);
void add_profile(CLI::App& program, Command& chosen);
void add_schedule(CLI::App& program, Command& chosen);
void add_front(CLI::App& program, Command& chosen);
void add_run(CLI::App& program, Command& chosen);
void add_calibrate(CLI::App& program, Command& chosen);
void add_simulate(CLI::App& program, Command& chosen);
void add_tasks(CLI::App& program, Command& chosen);
void add_reproduce(CLI::App& program, Command& chosen);
void add_bench(CLI::App& program, Command& chosen);
void add_dvbs2(CLI::App& program, Command& chosen);
void add_dvbs2_tx(CLI::App& dvbs2, Command& chosen);
void add_dvbs2_channel(CLI::App& dvbs2, Command& chosen);
void add_dvbs2_ber(CLI::App& dvbs2, Command& chosen);

/// Runs `chosen` and turns what it throws into a message, which begins with the program's name, and an exit
/// status.
int run_command(const Command& chosen, const std::string& program = "tidemill");

}  // namespace tidemill::cli
