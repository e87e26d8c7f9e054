#pragma once

/// All of Tidemill that a stream program needs.
///
/// Describe a stream: Graph, Module, task(), In, Out, Forward, Knob, Label, Frame, Flow; pure, cloned,
/// sequential, may_skip, may_repeat; Switch, Loop, Delay, Window, peek(), Clock. Look at it: structure_of().
/// Test a module alone: Testbench.
///
/// Run it: Sequence, Pipeline, Dynamic, Duplicates; RunOptions, RunReport; Journal, read_journal();
/// Checkpoint, CheckpointFile, read_checkpoint(). Look into a run: Trace, Probes, DebugPrint, Watchdog,
/// to_svg().
///
/// Schedule it: profile(), herad(), strategy(), thread_per_task(), Topology, platform_here();
/// read_schedule(), write_schedule() and the like keep all that in files.
///
/// Put it into another program: Inlet, Outlet, Started.
///
/// All at once: GraphRun; and App, which gives your `main` a command line (link tidemill::tidemill).
///
/// The DVB-S2 transceiver is in tidemill/dvbs2.hpp; programs that spawn tasks, in tidemill/tasks/tasks.hpp.

#include "tidemill/cli/app.hpp"
#include "tidemill/graph/control.hpp"
#include "tidemill/graph/delay.hpp"
#include "tidemill/graph/graph.hpp"
#include "tidemill/graph/structure.hpp"
#include "tidemill/graph/testbench.hpp"
#include "tidemill/graph/window.hpp"
#include "tidemill/run/checkpoint/checkpoint.hpp"
#include "tidemill/run/clock.hpp"
#include "tidemill/run/duplicates.hpp"
#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/insight/debug_print.hpp"
#include "tidemill/run/insight/drawing.hpp"
#include "tidemill/run/insight/probes.hpp"
#include "tidemill/run/insight/trace.hpp"
#include "tidemill/run/insight/watchdog.hpp"
#include "tidemill/run/job/graph_run.hpp"
#include "tidemill/run/journal/journal.hpp"
#include "tidemill/run/outside/inlet.hpp"
#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/profile/profiler.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/run/sequence.hpp"
#include "tidemill/schedule/herad.hpp"
#include "tidemill/schedule/profile_file.hpp"
#include "tidemill/schedule/schedule_file.hpp"
#include "tidemill/schedule/strategy.hpp"
