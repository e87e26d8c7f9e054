"""The DVB-S2 receiver: recordings in, transport stream packets out; and how often it errs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .record import Record, tell_warnings
from .scheduling import Profile, Schedule

if TYPE_CHECKING:
    import pandas

    from .figures import Figure

Auto = Literal["auto"]
Executor = Literal["pipeline", "sequence", "threads", "dynamic"]

_TS_PACKET_BYTES = 188
_CONSTELLATION_FRAMES = 32


class Report(Record):
    """What a reception came to: the names are those of `tidemill dvbs2 rx --json`, and these arrays."""

    packets: NDArray[np.uint8]
    """The transport stream, 188 bytes a packet."""
    constellation: NDArray[np.complex64]
    """Data symbols of the first frames over their amplitude; empty unless asked for."""
    frame_esn0_db: NDArray[np.float32]
    """Es/N0 of each frame, the bad ones included."""
    frame_margin_db: NDArray[np.float32]
    """The same over the threshold of the frame's MODCOD (EN 302 307-1, table 13)."""
    frame_good: NDArray[np.bool_]
    """Whether each frame could be decoded."""
    frame_ldpc_iterations: NDArray[np.int32]

    def __init__(self, report: dict[str, Any], text: str, arrays: dict[str, Any], call: str) -> None:
        super().__init__(report)
        self.text = text
        self.call = call
        for name, array in arrays.items():
            setattr(self, name, array)

    @property
    def plot(self) -> ReceptionPlots:
        """plot.constellation(), plot.margin(), plot.stages()."""
        return ReceptionPlots(self)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{self.text}</pre>"

    def _repr_png_(self) -> bytes | None:
        return self.plot.constellation()._repr_png_() if len(self.constellation) > 0 else None


@dataclass(frozen=True)
class ReceptionPlots:
    """Figures of a reception."""

    report: Report

    def constellation(self, symbols: int = 20000) -> Figure:
        """The last `symbols` of those that were kept; needs receive(..., constellation=True)."""
        from .figures.reception import constellation_figure

        return constellation_figure(self.report, symbols)

    def margin(self) -> Figure:
        """How far each frame was above the threshold of its code."""
        from .figures.reception import margin_figure

        return margin_figure(self.report)

    def stages(self) -> Figure:
        """How the time of each stage's threads went."""
        from .figures.stages import stages_figure

        return stages_figure(self.report.run, self.report.call)


def _reception(
    recording: str | os.PathLike[str],
    format: str | None,
    sample_rate_hz: float | None,
    symbol_rate_hz: float | Auto | None,
    offset_hz: float | None,
    rolloff: float | Auto,
    gold_code: int | Auto,
) -> _core.ReceptionOptions:
    return _core.ReceptionOptions(
        os.fspath(recording),
        format=format,
        sample_rate_hz=sample_rate_hz,
        symbol_rate_hz=symbol_rate_hz,
        offset_hz=offset_hz,
        rolloff=rolloff,
        gold_code=gold_code,
    )


def receive(
    recording: str | os.PathLike[str],
    *,
    constellation: bool | int = False,
    output: str | os.PathLike[str] = "",
    format: str | None = None,
    sample_rate_hz: float | None = None,
    symbol_rate_hz: float | Auto | None = None,
    offset_hz: float | None = None,
    rolloff: float | Auto = 0.20,
    gold_code: int | Auto = 0,
    executor: Executor | None = None,
    schedule: Schedule | None = None,
    profile_s: float = 1,
) -> Report:
    """Receives a recording, as `tidemill dvbs2 rx` does.

    constellation: keep the data symbols of the first 32 frames, or of so many.
    output: where the transport stream goes besides Report.packets: a path, or udp://host:port.
    format, sample_rate_hz: of raw samples, where names and metadata do not tell.
    symbol_rate_hz: else half the sample rate; "auto" has it searched, like rolloff and gold_code.
    offset_hz: where the carrier lies; else about the middle.
    executor, schedule, profile_s: how the receiver runs; else it is profiled for a second and scheduled.

    Throws IoError for what cannot be read, WrongUsage for settings that cannot be, and JobFailed, saying why, when
    nothing was received.
    """
    options = _reception(recording, format, sample_rate_hz, symbol_rate_hz, offset_hz, rolloff, gold_code)
    frames = _CONSTELLATION_FRAMES if constellation is True else int(constellation)
    report, text, arrays = _core.receive(
        options,
        constellation_frames=frames,
        executor=executor,
        schedule=schedule._core if schedule else None,
        profile_s=profile_s,
        output=os.fspath(output),
    )
    tell_warnings()
    return Report(report, text, arrays, f"tidemill.dvbs2.receive({os.path.basename(os.fspath(recording))!r})")


def profile(
    recording: str | os.PathLike[str],
    *,
    seconds: float = 1.0,
    format: str | None = None,
    sample_rate_hz: float | None = None,
    symbol_rate_hz: float | Auto | None = None,
    offset_hz: float | None = None,
    rolloff: float | Auto = 0.20,
    gold_code: int | Auto = 0,
) -> Profile:
    """What the receiver's tasks take on each kind of core, per block of samples, as `tidemill dvbs2 profile` does."""
    options = _reception(recording, format, sample_rate_hz, symbol_rate_hz, offset_hz, rolloff, gold_code)
    found = _core.profile_receiver(options, seconds=seconds)
    tell_warnings()
    return Profile(found)


@dataclass(frozen=True)
class Curve:
    """Frame and bit error rates: a row for each code and point."""

    data: dict[str, NDArray[Any]]
    """Columns under the names of `tidemill dvbs2 ber --json`: counts are integers, rates not known are NaN."""
    notes: list[str]
    frame: str
    call: str = field(repr=False)
    seed: int

    def __len__(self) -> int:
        return len(self.data["frames"])

    def plot(self, compare: Iterable[str] = ()) -> Figure:
        """Frame error rate over Eb/N0 with 95 % intervals.

        compare: "StreamPU", what others measured for the same codes; "capacity", Shannon's limit for their rate.
        """
        from .figures.rates import rates_figure

        return rates_figure(self, list(compare))

    def to_pandas(self) -> pandas.DataFrame:
        """Needs the package pandas."""
        import pandas

        return pandas.DataFrame(self.data)

    def _repr_png_(self) -> bytes:
        return self.plot()._repr_png_()


def ber(
    modcod: str | Iterable[str],
    *,
    frame: Literal["normal", "short"] = "normal",
    esn0: ArrayLike = (),
    ebn0: ArrayLike = (),
    margin: ArrayLike = (),
    errors: int = 100,
    frames: int = 1000,
    iterations: int = 50,
    sync: Literal["ideal", "full"] = "ideal",
    pilots: bool = False,
    threads: int = 0,
    seed: int = 1,
    first_frame: int = 0,
    burst: int = 100,
    target: str = "",
) -> Curve:
    """Counts frame and bit errors over white noise, as `tidemill dvbs2 ber` does.

    modcod: "QPSK 8/9", or several. esn0, ebn0, margin: points in dB; one of the three (margin: over table 13's
    threshold). errors, frames: a point is done at whatever comes first. sync: "full" for the whole receiver.
    threads: 0 for one on each core. first_frame: a part of a count, beginning with this frame; parts add up to the
    whole. burst: frames from one acquisition to the next, with sync="full". target: instruction set of all kernels of
    this process from now on, one of instruction_sets(); else the best. Ctrl-C ends it early.
    """
    modcods = [modcod] if isinstance(modcod, str) else list(modcod)
    points = {name: np.ravel(np.asarray(dbs, float)) for name, dbs in _named(esn0, ebn0, margin)}
    _check_points(points)
    if first_frame < 0 or burst < 1:
        raise _core.WrongUsage("first_frame: give 0 or more; burst: 1 or more")
    if errors < 1 or frames < 1 or iterations < 1 or threads < 0:
        raise _core.WrongUsage("errors, frames and iterations: give 1 or more; threads: 0 or more")
    rounded = {f"{name}_db": np.round(dbs, 6).tolist() for name, dbs in points.items()}
    options = _core.BerOptions(
        modcods=modcods,
        frame=frame,
        frames=frames,
        errors=errors,
        iterations=iterations,
        threads=threads,
        seed=seed,
        full=sync == "full",
        pilots=pilots,
        first_frame=first_frame,
        burst=burst,
        target=target,
        **rounded,
    )
    table = _core.count_errors(options)
    given = ", ".join(f"{name}={np.round(dbs, 6).tolist()}" for name, dbs in points.items() if len(dbs) > 0)
    call = f"tidemill.dvbs2.ber({modcod!r}, frame={frame!r}, {given}, errors={errors}, frames={frames}, seed={seed})"
    return Curve(_columns(table["rows"]), table["notes"], frame, call, seed)


def _check_points(points: dict[str, NDArray[Any]]) -> None:
    if sum(len(dbs) > 0 for dbs in points.values()) > 1:
        raise _core.WrongUsage("esn0, ebn0, margin: give one of them")
    if not all(np.isfinite(dbs).all() for dbs in points.values()):
        raise _core.WrongUsage("esn0, ebn0, margin: give finite numbers in dB")


def instruction_sets() -> list[str]:
    """Those that the kernels were built for and this processor has, best first."""
    return _core.instruction_sets()


def _named(esn0: ArrayLike, ebn0: ArrayLike, margin: ArrayLike) -> list[tuple[str, ArrayLike]]:
    return [("esn0", esn0), ("ebn0", ebn0), ("margin", margin)]


def _columns(rows: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        columns[name] = np.array([np.nan if value is None else value for value in values])
    return columns
