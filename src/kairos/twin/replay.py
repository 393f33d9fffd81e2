"""``kairos replay``: repeats a run from what its device was sent.

The file of a run has its kernels and the answers of the host to their calls (`kairos.session.record`). The
twin gets the same again, with the bench of the file, or with the inputs that the device's analyzer has recorded, so
that its kernels take the same branches, whatever host functions would answer now. Each instant can then be looked at.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import emulator, resultfiles
from ..cli.outputs import duration_ns
from ..cli.waveforms import file_of, read_waveform
from ..coredevice.core import load_compiler
from ..devices import database_of
from ..emulator import steps as steps_of_kernels
from ..emulator.sources import UNKNOWN, Sources, is_own
from ..errors import UsageError
from ..experiment.hdf5 import texts_of
from ..scope.run import write_run
from ..scratch import ScratchFolder
from ..session import Replay
from ..session.record import GROUP, Step, inputs_of, unpacked
from ..waveform import Changes, Channel, Recording
from ..waveform.difference import differences
from ..waveform.table import format_duration
from .inputs import Inputs, inputs_in
from .rehearsal import SETTLING, Twin
from .verification import ENDED_BY_ITSELF

__all__ = ["Replayed", "replay", "replayed"]


BEYOND_NS = 1_000_000
"""Time of the device beyond the last event of a run that somebody has ended; what happens there is left out."""
SLOWER = 3
"""Times as long as in the run for the twin to make its outputs."""
STEPS = 256 << 20
"""Bytes for the steps of kernels; those beyond are not known."""


@dataclass
class Replayed:
    """A run that was repeated."""

    recording: Recording
    sources: Sources
    kernels: int
    complete: bool
    """Whether the file has all of the run."""
    differences: list[str]
    """Where the pins did something else; of a run whose inputs were recorded, channels with other outputs."""
    outputs: int | None = None
    """Outputs that were compared, if inputs were recorded."""
    missing: int = 0
    """Recorded inputs that cannot be repeated."""
    steps: Sequence[Any] = ()
    """The calls of the kernels (`kairos.compiler.steps.Step`), if they were asked for."""
    end_ns: int | None = None
    """Time of the device where somebody has ended the run; None: it has ended by itself."""

    def at(self, instant: int) -> dict[str, Any]:
        """Return what was there at an instant, in ns after the first event of the pins: the last `output` of the
        kernels that was due, the `next` one, what the processor has `submitted` last (each with file, line,
        function and due time), the `functions` that had not returned at the last call of the firmware by each board's
        processor, innermost first, each with file, line, name, `variables`, and the `board` if there are several, and
        the levels of the `pins` that change in the run."""
        outputs = self.sources.outputs
        due, submitted = outputs["time_ns"], outputs["submitted_ns"]
        now = instant + self.recording.origin_ns
        order = np.argsort(due, kind="stable")
        if self.end_ns is not None:  # the twin may have gone on for a while
            order = order[due[order] <= self.end_ns]
            submitted = np.where(due <= self.end_ns, submitted, UNKNOWN)
        passed = int(np.searchsorted(due[order], now, side="right"))
        made = np.flatnonzero((submitted != UNKNOWN) & (submitted <= now))
        return {
            "at_ns": instant,
            "output": self._origin(order[passed - 1]) if passed else None,
            "next": self._origin(order[passed]) if passed < len(order) else None,
            "submitted": self._origin(made[np.argmax(submitted[made])]) if len(made) else None,
            "functions": self._functions(now),
            "pins": {channel.name: _level(channel, instant) for channel in self.recording.active()},
        }

    def _functions(self, now: int) -> list[dict[str, Any]]:
        last = {step.board: step for step in self.steps[: bisect_right(self.steps, now, key=lambda step: step.time_ns)]}
        return [
            {
                **({"board": step.board} if step.board else {}),
                **{"file": one.file, "line": one.line, "function": one.name, "variables": dict(one.variables)},
            }
            for step in last.values()
            for one in step.functions
        ]

    def _origin(self, number: int) -> dict[str, Any]:
        output = self.sources.outputs[number]
        frames = self.sources.frames(int(output["chain"]))
        found = {"due_ns": int(output["time_ns"]) - self.recording.origin_ns, "channel": int(output["target"]) >> 8}
        if frames:
            found |= {"file": frames[0].file, "line": frames[0].line, "function": frames[0].function}
        return found


def _level(channel: Channel, instant: int) -> int | None:
    """Return the level of a pin at an instant; in a long run of a clock, which changes all the time, None."""
    level = channel.initial
    for changes, wave in channel.parts():
        changes = Changes.of(changes)
        passed = int(np.searchsorted(changes.times, instant, side="right"))
        if passed:
            level = changes[passed - 1][1]
        if passed < len(changes) or wave is None or instant < wave.time_of(0):
            break
        level = None if instant < wave.time_of(wave.changes - 1) else wave.final
    return level


def replay(args) -> int:
    """Repeat the run of the command line; returns 1 if the pins do something else."""
    path = file_of(args.run, args.lab)
    instants = [duration_ns("--at", text) for text in args.at]
    found = replayed(path, args.twin, debugged=bool(instants), page=args.scope)
    shown = [found.at(instant) for instant in instants]
    if args.json:
        said = {"same": not found.differences, "events": found.recording.event_count, "kernels": found.kernels}
        if found.outputs is not None:
            said |= {"outputs": found.outputs, "missing": found.missing}
        print(json.dumps({**said, "differences": found.differences, "complete": found.complete, "at": shown}))
        return int(bool(found.differences))
    for line in found.differences:
        print(line)
    if not found.differences:
        kernels = f"{found.kernels} kernel{'s' if found.kernels != 1 else ''}"
        what = (
            f"{found.recording.event_count:,} events of the pins"
            if found.outputs is None
            else (f"{found.outputs:,} outputs in the same order")
        )
        print(f"the same: {what}, {kernels}")
    if found.missing:
        print(
            f"{found.missing} recorded inputs cannot be repeated: no output pin has changed before them, or no pin "
            "gives them"
        )
    if not found.complete:
        print("only the beginning is repeated: the file has no more of the run")
    for each in shown:
        _print_instant(each)
    return int(bool(found.differences))


def _print_instant(shown: dict[str, Any]):
    print(f"{format_duration(shown['at_ns'])}:")
    for name, text in (("output", "last output"), ("next", "next output"), ("submitted", "processor")):
        if (one := shown[name]) is not None:
            when = format_duration(one["due_ns"] - shown["at_ns"])
            print(f"  {text}: {_place(one)}, due {when.removeprefix('-')} {'before' if when[0] == '-' else 'later'}")
    own = [one for one in shown["functions"] if is_own(one["file"])]
    for one in own or shown["functions"][:1]:
        values = ", ".join(f"{name} = {value}" for name, value in one["variables"].items())
        on = f" on {one['board']}" if "board" in one else ""
        print(f"  {Path(one['file']).name}:{one['line']} in {one['function'].rpartition('.')[2]}{on}: {values or '-'}")
    levels = ", ".join(f"{name} {'-' if level is None else level}" for name, level in shown["pins"].items())
    print(f"  pins: {levels or 'none has changed'}")


def _place(one: dict[str, Any]) -> str:
    if "file" not in one:
        return f"channel {one['channel']}"
    return f"{Path(one['file']).name}:{one['line']} in {one['function'].rpartition('.')[2]}"


def replayed(path: Path, twin: str | None = None, debugged: bool = False, page: str | None = None) -> Replayed:
    """Repeat the run of a file. `twin`: the emulated device of a run that was not on one. debugged: with the steps of
    its kernels. page: HTML file to be written, with the steps. UsageError if the file has no record of the run."""
    steps, libraries, complete, texts, recorded = _read(path)
    recording = read_waveform(path) if recorded is None else None
    scratch = ScratchFolder("kairos-replay-")
    try:
        ddb = database_of(texts, scratch.path)
        if not emulator.is_emulated(ddb.arguments("core").get("host")) and twin is None:
            twin = texts.get("twin")
            if twin is None:
                raise UsageError(
                    f"the run of {path} was not on an emulated device: name one with --twin emulator://VARIANT"
                )
        inputs = None if recorded is None else inputs_in(recorded, ddb)
        bench = _bench_of(texts, scratch.path) if inputs is None else inputs.write(scratch.path)
        with Twin(ddb, None if bench is None else str(bench), twin) as used:
            device = used.device
            if debugged or page is not None:
                steps_of_kernels.record(device, STEPS)
            ended = texts.get("status", ENDED_BY_ITSELF[0]) not in ENDED_BY_ITSELF
            session = Replay("127.0.0.1", device, _end(recording, inputs, device) if ended else None)
            try:
                session.repeat(steps, _kernels(steps, libraries))
            finally:
                session.close()
            device.wait_idle(timeout=SETTLING, clocks=used.ddb.free_running)
            names = used.ddb.channel_names()
            again, sources = device.recording(names), device.sources()
            end_ns = None
            if ended and recording is not None:
                # The last output could have been replaced by the next one.
                end_ns = again.origin_ns + recording.duration_ns
                again, recording = (_before(each, recording.duration_ns) for each in (again, recording))
            elif ended:
                end_ns = _last_of(inputs, sources)
                again = _before(again, end_ns - again.origin_ns + 1)
            found = Replayed(again, sources, session.statistics.kernels, complete, [], end_ns=end_ns)
            if debugged or page is not None:
                steps = load_compiler().steps.steps_in(steps_of_kernels.recorded(device), device.kernels.libraries())
                found.steps = [each for each in steps if end_ns is None or each.time_ns <= end_ns]
            if page is not None:
                write_run(page, again, used.ddb.entries, names, device, path.name, found.steps, _files(texts))
            if inputs is not None:
                found.outputs, found.missing = sum(map(len, inputs.outputs.values())), inputs.missing
                found.differences = _other_outputs(inputs, sources, names, ended) if complete else []
            elif complete:
                found.differences = [each.text for each in differences(recording, again)]
            return found
    finally:
        scratch.close()


def _end(recording: Recording | None, inputs: Inputs | None, device) -> Callable[[int], bool]:
    """Return a function of the device's time, whether the twin has done what a run had that somebody has ended."""
    if recording is not None:
        until = recording.origin_ns + recording.duration_ns + BEYOND_NS
        return lambda now_ns: now_ns > until
    begun: list[int] = []
    wanted = {channel: len(addresses) for channel, addresses in inputs.outputs.items()}

    def is_over(now_ns: int) -> bool:
        begun.append(now_ns)
        if now_ns - begun[0] > SLOWER * inputs.duration_ns + BEYOND_NS:
            return True  # it has taken another branch
        channels, counts = np.unique(device.sources().outputs["target"] >> 8, return_counts=True)
        made = dict(zip(channels.tolist(), counts.tolist(), strict=True))
        return all(made.get(channel, 0) >= count for channel, count in wanted.items())

    return is_over


def _last_of(inputs: Inputs, sources: Sources) -> int:
    """Return the time of the last output of the twin that the run has made, too."""
    outputs = sources.outputs
    last = 0
    for channel, addresses in inputs.outputs.items():
        due = outputs["time_ns"][outputs["target"] >> 8 == channel][: len(addresses)]
        last = max(last, int(due.max(initial=0)))
    return last


def _before(recording: Recording, end_ns: int) -> Recording:
    """Return the part of a recording before a time."""
    channels = []
    for channel in recording.channels:
        changes = Changes.of(channel.changes)
        passed = int(np.searchsorted(changes.times, end_ns))
        waves = [part for wave in channel.waves if (part := wave.before(end_ns)).changes]
        channels.append(replace(channel, changes=Changes(changes.times[:passed], changes.levels[:passed]), waves=waves))
    return Recording(channels, recording.origin_ns)


def _files(texts: dict[str, str]) -> dict[str, str]:
    """Return the sources of a run by the names of their files; that of the experiment, whose name is not known, by
    an empty one."""
    imported = {
        Path(name).name: text for name, text in texts.items() if name.startswith("imported/") and name.endswith(".py")
    }
    return {"": texts.get("experiment", ""), **imported}


def _bench_of(texts: dict[str, str], folder: Path) -> Path | None:
    """Write the bench of a run, with the models that it imports; None if there was none."""
    if "bench" not in texts:
        return None
    bench = folder / "bench.toml"
    bench.write_text(texts["bench"])
    for name, text in texts.items():
        if name.startswith("imported/"):
            place = folder / name.removeprefix("imported/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    return bench


def _other_outputs(inputs: Inputs, sources: Sources, names: dict[int, str], ended: bool) -> list[str]:
    """Return a line for each channel to which the kernels have given other outputs than in the run: they have taken
    another branch. Times are not compared: those after an answer of the host depend on how long it took. `ended`:
    somebody has ended the run, beyond which the twin may have made more."""
    again: dict[int, list[int]] = {}
    for target in sources.outputs["target"].tolist():
        again.setdefault(target >> 8, []).append(target & 0xFF)
    lines = []
    for channel in sorted({*inputs.outputs, *again}):
        one, other = inputs.outputs.get(channel, []), again.get(channel, [])
        other = other[: len(one)] if ended else other
        if one != other:
            alike = next((place for place, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1), None)
            alike = min(len(one), len(other)) if alike is None else alike
            name = names.get(channel, f"channel {channel}")
            lines.append(f"{name}: {len(other)} outputs instead of {len(one)}, others from the {alike + 1}th on")
    return lines


def _kernels(steps: list[Step], libraries: list[bytes]) -> list:
    """Return the kernel of each step."""
    compiler = load_compiler()
    made: dict[tuple, Any] = {}
    for step in steps:
        key = (step.kernel, *step.subkernels)
        if key not in made:
            subkernels = [
                compiler.restored_subkernel(number, destination, libraries[library])
                for number, destination, library in step.subkernels
            ]
            made[key] = compiler.restored(libraries[step.kernel], tuple(subkernels))
    return [made[step.kernel, *step.subkernels] for step in steps]


def _read(path: Path) -> tuple[list[Step], list[bytes], bool, dict[str, str], bytes | None]:
    """Return steps, libraries, whether they are complete, the texts of the provenance (with the `twin` of a predicted
    waveform), and the dump of the analyzer, if there is one. UsageError."""
    with resultfiles.opened(path) as file:
        group, provenance = resultfiles.group_of(file, GROUP), resultfiles.group_of(file, "provenance")
        if group is None or provenance is None:
            raise UsageError(
                f"{path} cannot be replayed: 'kairos run -o' stores what that takes, on hardware with "
                "--record-inputs, and a laboratory with 'inputs = true' under [rehearsal] in lab.toml"
            )
        steps, libraries, complete = unpacked(group)
        texts = texts_of(provenance)
        if "waveform/url" in file:
            texts["twin"] = resultfiles.text(file["waveform/url"])
        return steps, libraries, complete, texts, inputs_of(group)
