"""Streaming dataflow programs at full speed on the cores you have.

Describe a stream: Graph, task(), source(), sink(), In, Out, Forward, Label, Knob, Flow. Run it: Sequence, Pipeline, Dynamic.
Schedule it: profile(), schedule(), simulate(), front(), reproduce(); Profile and Schedule are files, too. The DVB-S2 receiver
is in tidemill.dvbs2. docs/guides/python.md of the source teaches all of it by examples.
"""

import atexit as _atexit

try:
    from . import _core
except ImportError as error:
    from ._loading import explained as _explained

    raise _explained(error) from error

from . import dvbs2
from ._core import (
    BridgeError,
    DspError,
    Dvbs2Error,
    Error,
    FecError,
    Flow,
    FrameError,
    GraphError,
    IoError,
    JobFailed,
    JsonError,
    PlatformError,
    PolicyError,
    PolicyTask,
    RunError,
    ScheduleError,
    WrongUsage,
)
from ._core import version as __version__
from ._laboratory import SimError
from .graph import Forward, Graph, In, Knob, Label, Module, Out, Socket, TaskSpec, sink, source, task
from .installed import cmake_folder, licences
from .record import Record
from .recording import Samples, read_samples
from .reproduction import Reproduction, reproduce, reproductions
from .run import Dynamic, Pipeline, Run, Sequence
from .scheduling import Front, Profile, Schedule, Simulation, cores_here, front, profile, schedule, simulate
from .strategy_study import Slowdowns, slowdowns
from .task_simulation import OwnPolicy, TaskSimulation, policies, simulate_tasks, task_programs

__all__ = [
    "BridgeError", "DspError", "Dvbs2Error", "Dynamic", "Error", "FecError", "Flow", "Forward", "FrameError",
    "Front", "Graph", "GraphError", "In", "IoError", "JobFailed", "JsonError", "Knob", "Label", "Module", "Out",
    "OwnPolicy", "Pipeline", "PlatformError", "PolicyError", "PolicyTask", "Profile", "Record", "Reproduction", "Run",
    "RunError", "Samples", "Schedule", "ScheduleError", "Sequence", "SimError", "Simulation", "Slowdowns", "Socket",
    "TaskSimulation", "TaskSpec", "WrongUsage", "__version__", "cmake_folder", "cores_here", "dvbs2", "front", "licences", "policies",
    "profile", "read_samples", "reproduce", "reproductions", "schedule", "simulate", "simulate_tasks", "sink", "slowdowns",
    "source", "task", "task_programs",
]  # fmt: skip

# A stream that still runs when the interpreter ends is ended in order.
_atexit.register(_core.end_live_runs)
