#pragma once

#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Declares all verbs of the program `tidemill`, in the order of its help.
void add_verbs(Verb& program);

// Each function declares a verb with its options.
void add_profile(Verb& program);
void add_pareto(Verb& program);
void add_calibrate(Verb& program);
void add_dvbs2(Verb& program);
void add_radio(Verb& program);
void add_dvbs2_profile(Verb& dvbs2);
void add_dvbs2_rx(Verb& dvbs2);
void add_dvbs2_tx(Verb& dvbs2);
void add_dvbs2_channel(Verb& dvbs2);
void add_dvbs2_ber(Verb& dvbs2);
void add_dvbs2_scan(Verb& dvbs2);

}  // namespace tidemill::cli
