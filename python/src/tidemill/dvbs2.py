"""The DVB-S2 receiver: recordings in, transport stream packets out; and how often it errs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _given
from .record import Record, tell_warnings
from .recording import Samples, read_samples
from .scheduling import Profile, Schedule

if TYPE_CHECKING:
    import pandas

    from .figures import Figure

Auto = Literal["auto"]
Executor = Literal["auto", "pipeline", "sequence", "threads", "dynamic"]

_LONGEST_S = 1e9
_MOST_HZ = 1e12
_MOST_THREADS = 1024
_MOST = 10**12  # of whatever is counted
_MOST_ITERATIONS = 10**6
_TS_PACKET_BYTES = 188
_MOST_PER_SYMBOL = 1024
_MOST_TAKEN = 2**20  # packets at a time
_MOST_GOLD_CODE = 2**31 - 1  # of those there are, the library tells
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

    def __init__(
        self, report: dict[str, Any], text: str, arrays: dict[str, Any], call: str, read: Callable[..., Samples]
    ) -> None:
        super().__init__(report)
        self.text = text
        self.call = call
        self._read = read
        for name, array in arrays.items():
            setattr(self, name, array)

    @property
    def plot(self) -> ReceptionPlots:
        """plot.constellation(), plot.margin(), plot.spectrum(), plot.stages()."""
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

    def spectrum(self, samples: int = 1 << 20, bins: int = 1024) -> Figure:
        """Of the first `samples` of the recording."""
        return self.report._read(count=samples).plot(bins)

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
        _given.path("recording", recording),
        format=None if format is None else _given.text("format", format),
        sample_rate_hz=None if sample_rate_hz is None else _given.number("sample_rate_hz", sample_rate_hz, 0),
        symbol_rate_hz=None if symbol_rate_hz is None else _number_or_auto("symbol_rate_hz", symbol_rate_hz),
        offset_hz=None if offset_hz is None else _given.number("offset_hz", offset_hz),
        rolloff=_number_or_auto("rolloff", rolloff),
        gold_code=gold_code if isinstance(gold_code, str) and gold_code == "auto" else _gold_code(gold_code),
    )


def _number_or_auto(name: str, value: float | Auto) -> float | Auto:
    if isinstance(value, str) and value != "auto":
        raise _core.WrongUsage(f"{name}={value!r}: give a number or 'auto'")
    return "auto" if isinstance(value, str) else _given.number(name, value)


def _gold_code(value: int) -> int:
    return _given.whole("gold_code", value, -_MOST_GOLD_CODE, _MOST_GOLD_CODE)


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
    executor, schedule, profile_s: how the receiver runs; else as the program's does: it begins in order and finds out
        what is fastest, and what streams in stays in order until its samples wait.

    Throws IoError for what cannot be read, WrongUsage for settings that cannot be, and JobFailed, saying why, when
    nothing was received.
    """
    options = _reception(recording, format, sample_rate_hz, symbol_rate_hz, offset_hz, rolloff, gold_code)
    frames = _CONSTELLATION_FRAMES if constellation is True else _given.whole("constellation", constellation)
    target = _given.path("output", output)
    report, text, arrays = _core.receive(
        options,
        constellation_frames=frames,
        executor=None if executor is None else _given.text("executor", executor),
        schedule=None if schedule is None else _given.instance("schedule", schedule, Schedule, "a Schedule")._core,
        profile_s=_given.number("profile_s", profile_s, 0, _LONGEST_S),
        output=target,
    )
    tell_warnings()
    call = f"tidemill.dvbs2.receive({os.path.basename(_given.path('recording', recording))!r})"
    read = partial(read_samples, recording, format=format, sample_rate_hz=sample_rate_hz)
    return Report(report, text, arrays, call, read)


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
    found = _core.profile_receiver(options, seconds=_given.number("seconds", seconds, 0, _LONGEST_S))
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
    esn0: ArrayLike | None = None,
    ebn0: ArrayLike | None = None,
    margin: ArrayLike | None = None,
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

    modcod: "QPSK 8/9", or several.
    esn0, ebn0, margin: points in dB; one of the three (margin: over table 13's threshold).
    errors, frames: a point is done at whatever comes first. threads: 0 for one on each core.
    sync: "full" for the whole receiver. burst: frames from one acquisition to the next, with sync="full".
    first_frame: a part of a count, beginning with this frame; parts add up to the whole.
    target: instruction set of all kernels of this process from now on, one of instruction_sets(); else the best.
    Ctrl-C ends it early.
    """
    modcods = _modcods(modcod)
    points = _points({"esn0": esn0, "ebn0": ebn0, "margin": margin})
    if sync not in ("ideal", "full"):
        raise _core.WrongUsage(f"sync={sync!r}: give ideal or full")
    options = _core.BerOptions(
        modcods=modcods,
        frame=_given.text("frame", frame),
        frames=_given.whole("frames", frames, 1, _MOST),
        errors=_given.whole("errors", errors, 1, _MOST),
        iterations=_given.whole("iterations", iterations, 1, _MOST_ITERATIONS),
        threads=_given.whole("threads", threads, 0, _MOST_THREADS),
        seed=_given.seed(seed),
        full=sync == "full",
        pilots=bool(pilots),
        first_frame=_given.whole("first_frame", first_frame, 0, _MOST),
        burst=_given.whole("burst", burst, 1, _MOST),
        target=_given.text("target", target),
        **{f"{name}_db": points.get(name, []) for name in ("esn0", "ebn0", "margin")},
    )
    table = _core.count_errors(options)
    given = "".join(f"{name}={dbs}, " for name, dbs in points.items())
    call = f"tidemill.dvbs2.ber({modcod!r}, frame={frame!r}, {given}errors={errors}, frames={frames}, seed={seed})"
    return Curve(_columns(table["rows"]), table["notes"], frame, call, seed)


def _modcods(modcod: str | Iterable[str]) -> list[str]:
    if not isinstance(modcod, (str, Iterable)):
        raise TypeError(f"modcod={modcod!r}: give a text like 'QPSK 8/9', or several")
    names = [modcod] if isinstance(modcod, str) else [_given.text("modcod", each) for each in modcod]
    if not names:
        raise _core.WrongUsage("modcod: give one or more, like 'QPSK 8/9'")
    return names


def _points(given: dict[str, ArrayLike | None]) -> dict[str, list[float]]:
    points = {name: _decibels(name, dbs) for name, dbs in given.items() if dbs is not None}
    if len(points) > 1:
        raise _core.WrongUsage("esn0, ebn0, margin: give one of them")
    return points


def _decibels(name: str, dbs: ArrayLike) -> list[float]:
    try:
        array = np.ravel(np.asarray(dbs, np.float64))
    except (TypeError, ValueError):
        raise TypeError(f"{name}={dbs!r}: give numbers in dB") from None
    if not array.size or not np.isfinite(array).all():
        raise _core.WrongUsage(f"{name}: give one or more finite numbers in dB")
    return [float(each) for each in np.round(array, 6)]


def instruction_sets() -> list[str]:
    """Those that the kernels were built for and this processor has, best first."""
    return _core.instruction_sets()


def _columns(rows: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        columns[name] = np.array([np.nan if value is None else value for value in values])
    return columns


def _samples(given: ArrayLike) -> NDArray[np.complex64]:
    array = np.asarray(given)
    if array.dtype.kind not in "fcui":
        raise _core.WrongUsage(f"samples of {array.dtype}: give complex numbers of full scale 1")
    return np.ascontiguousarray(array, np.complex64)


class Receiver:
    """The receiver, for samples that the program has: pushed in, packets out, on a thread of its own.

    `for packets in receiver.receive(blocks)` takes blocks of samples from anything to iterate over as fast as packets
    are taken, and gives arrays of whole packets. The same by hand: push(), end(), take(), finish().

    sample_rate_hz, symbol_rate_hz: without a symbol rate it is half the sample rate. threads: that share the work.
    waiting_packets: how many may wait to be taken before the receiver waits.
    Throws Dvbs2Error, saying which, for settings that cannot be.
    """

    def __init__(
        self,
        *,
        sample_rate_hz: float = 0,
        symbol_rate_hz: float = 0,
        rolloff: float = 0.20,
        gold_code: int = 0,
        threads: int = 1,
        waiting_packets: int = 4096,
    ) -> None:
        self._core = _core.PushedReceiver(
            sample_rate_hz=_given.number("sample_rate_hz", sample_rate_hz, 0, _MOST_HZ, error=_core.Dvbs2Error),
            symbol_rate_hz=_given.number("symbol_rate_hz", symbol_rate_hz, 0, _MOST_HZ, error=_core.Dvbs2Error),
            rolloff=_given.number("rolloff", rolloff),
            gold_code=_gold_code(gold_code),
            threads=_given.whole("threads", threads, 1, _MOST_THREADS),
            waiting_packets=_given.whole("waiting_packets", waiting_packets, 1, _MOST),
        )
        self._pushing = threading.Lock()
        self._is_stopped = False

    def push(self, samples: ArrayLike) -> None:
        """Takes complex samples, full scale 1, and waits while there is no room: then another thread has to take().

        Of several threads that push, one goes first.
        """
        given = _samples(samples)
        with self._pushing:
            self._core.push(given)

    def end(self) -> None:
        """No more samples come: those that wait are received."""
        self._core.end()

    def take(self, most: int = 1024) -> NDArray[np.uint8]:
        """The packets that wait, up to `most`: rows of 188 bytes. Waits for one; none where no more come."""
        packets = np.asarray(self._core.take(_given.whole("most", most, 1, _MOST_TAKEN)), np.uint8)
        return packets.reshape(-1, _TS_PACKET_BYTES)

    def stop(self) -> None:
        """Ends the reception soon: samples that wait are not received."""
        self._is_stopped = True
        self._core.stop()

    @property
    def now(self) -> Record:
        """What it does and has heard so far: locked, frames, frames_bad, esn0_db, modcod, ..."""
        return Record(self._core.now())

    def finish(self) -> Record:
        """Ends it as end() does, waits, and tells what was received. Throws what the reception threw. Once."""
        return Record(self._core.finish())

    def receive(self, blocks: Iterable[ArrayLike]) -> Iterator[NDArray[np.uint8]]:
        """Gives the packets of what is in `blocks`, each of any length, while it takes them on another thread.

        Who takes no more packets is fed no more samples. What `blocks` raises comes out here. stop() on another thread
        ends it.
        """
        failed: list[BaseException] = []

        def feed() -> None:
            try:
                for block in blocks:
                    self.push(block)
            except BaseException as error:  # told to who takes
                if not (isinstance(error, _core.Dvbs2Error) and self._was_asked_to_end()):
                    failed.append(error)
            finally:
                self.end()

        feeder = threading.Thread(target=feed, name="tidemill-feeder", daemon=True)
        feeder.start()
        try:
            while len(packets := self.take()):
                yield packets
        finally:
            self._core.stop()
            feeder.join()
        if failed:
            raise failed[0]

    def _was_asked_to_end(self) -> bool:
        """By stop() or the interpreter's end: nobody wonders then why it takes no more samples."""
        return self._is_stopped or not threading.main_thread().is_alive()


class Transmitter:
    """The transmitter: packets of a transport stream in, samples of mean power 1 out, with constant coding."""

    def __init__(
        self,
        modcod: str = "QPSK 1/2",
        *,
        frame: Literal["normal", "short"] = "normal",
        pilots: bool = False,
        rolloff: float = 0.20,
        gold_code: int = 0,
        samples_per_symbol: int = 2,
    ) -> None:
        if frame not in ("normal", "short"):
            raise _core.WrongUsage(f"frame={frame!r}: give normal or short")
        self._core = _core.Transmitter(
            modcod=_given.text("modcod", modcod),
            short_frames=frame == "short",
            pilots=bool(pilots),
            rolloff=_given.number("rolloff", rolloff),
            gold_code=_gold_code(gold_code),
            samples_per_symbol=_given.whole("samples_per_symbol", samples_per_symbol, 1, _MOST_PER_SYMBOL),
        )
        self._sending = threading.Lock()

    def send(self, packets: ArrayLike) -> NDArray[np.complex64]:
        """The samples of the frames that these packets fill: bytes in whole packets of 188, in any shape."""
        given = np.ascontiguousarray(packets)
        if given.dtype != np.uint8 or given.size % _TS_PACKET_BYTES:
            raise _core.WrongUsage(f"{given.size} of {given.dtype}: give bytes (uint8) in whole packets of 188")
        if (given.reshape(-1, _TS_PACKET_BYTES)[:, 0] != 0x47).any():
            raise _core.WrongUsage("a packet does not begin with 0x47: give whole packets of a transport stream")
        with self._sending:
            return np.asarray(self._core.send(given), np.complex64)

    def finish(self) -> NDArray[np.complex64]:
        """What remains, in a padded frame, and the end of the signal."""
        with self._sending:
            return np.asarray(self._core.finish(), np.complex64)
