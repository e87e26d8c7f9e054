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
/// The DVB-S2 transceiver is in tidemill/dvbs2.hpp; programs that spawn tasks, in
/// tidemill/runtime/tasks/tasks.hpp.

#include "tidemill/apps/running/app.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/clock.hpp"
#include "tidemill/runtime/execute/duplicates.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/control.hpp"
#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/graph/testbench.hpp"
#include "tidemill/runtime/graph/window.hpp"
#include "tidemill/runtime/observe/debug_print.hpp"
#include "tidemill/runtime/observe/drawing.hpp"
#include "tidemill/runtime/observe/probes.hpp"
#include "tidemill/runtime/observe/trace.hpp"
#include "tidemill/runtime/observe/watchdog.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"
#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"
#include "tidemill/scheduling/static/strategy.hpp"
#include "tidemill/tuning/graph_run.hpp"
#include "tidemill/tuning/profile/profiler.hpp"
