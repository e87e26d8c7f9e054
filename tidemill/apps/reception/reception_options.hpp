#pragma once

#include "tidemill/apps/reception/reception.hpp"
#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Adds the options without which a verb cannot read a recording.
void add_recording_options(Verb& verb, ReceptionOptions& options);

/// Adds the options of a radio, for verbs that may read from one.
void add_radio_options(Verb& verb, RadioOptions& options);

/// Adds what every verb that receives asks about the recording.
void add_reception_options(Verb& verb, ReceptionOptions& options);

}  // namespace tidemill::cli
