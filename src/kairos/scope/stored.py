"""The lanes of the waveform in a run's result file (`kairos.waveform.stored`).

``python -m kairos.scope.stored FILE [GROUP]`` writes them for a program that shows them: a line of JSON (`source`,
`complete`, `failure`, and the bytes of `lanes`), the lanes as JSON, their arrays, compressed. It is a process of its
own because it takes as long as the waveform is, and because the device database in the file is a program.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from .. import resultfiles
from ..devices import DEVICES, database_of
from ..errors import UsageError
from ..scratch import ScratchFolder
from ..waveform.stored import GROUP, unpacked
from .bench import lanes_of_tone
from .lanes import Lane, Steps
from .page import compressed, packed_lanes
from .pins import lanes_of_pins
from .serial import Labels

__all__ = ["lanes_of_file", "main"]

COLUMNS = 2
"""Columns of the outputs of a converter: time, volts."""


def lanes_of_file(file, name: str = GROUP) -> tuple[list[Lane], int]:
    """Return the lanes of the waveform in an open HDF5 file, which has one, and the time of its last change in
    nanoseconds. `name`: of its group."""
    group = resultfiles.group_of(file, name)
    recording = unpacked(group)
    lanes = [*_outputs(group, recording.origin_ns), *lanes_of_pins(recording, Labels(_entries(file)))]
    return lanes, recording.duration_ns


def _entries(file) -> dict[str, Any]:
    """Return the device database of the run; empty if it cannot be read, so that its chips are only numbers."""
    if "provenance/device_db" not in file:
        return {}
    folder = ScratchFolder("kairos-scope-")
    group = resultfiles.group_of(file, "provenance")
    texts = {name: resultfiles.text(group[name]) for name in (DEVICES, "device_db") if name in group}
    try:
        with redirect_stdout(sys.stderr):
            return database_of(texts, folder.path).entries
    except UsageError:
        return {}
    finally:
        folder.close()


def _outputs(group, origin_ns: int) -> Iterator[Lane]:
    """Yield the lanes of what came out of synthesisers and converters."""
    for kind in ("tones", "volts"):
        for name, rows in _arrays(resultfiles.group_of(group, kind)):
            if kind == "tones":
                yield from lanes_of_tone(name, rows.tolist(), origin_ns)
            elif rows.shape[1:] == (COLUMNS,):
                part, _, output = name.rpartition(".")
                times = np.maximum(rows[:, 0] - origin_ns, 0)
                yield Steps(output, ("bench", part), "V", times, rows[:, 1])


def _arrays(group) -> Iterator[tuple[str, np.ndarray]]:
    for name, item in resultfiles.datasets(group):
        if item.shape and len(item):
            yield name, resultfiles.value(item)


def main(path: str, name: str = GROUP):
    """Write the lanes of a file to standard output. `name`: of their group."""
    with resultfiles.opened(path) as file:
        group = resultfiles.group_of(file, name)
        found = {
            "source": resultfiles.text(group["source"]),
            "complete": resultfiles.flag(group, "complete"),
            "failure": resultfiles.text_of(group, "failure"),
        }
        lanes, arrays = packed_lanes("", *lanes_of_file(file, name))
    encoded = lanes.encode()
    head = json.dumps({**found, "lanes": len(encoded)}).encode()
    sys.stdout.buffer.write(head + b"\n" + encoded + compressed(arrays))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except UsageError as failed:
        sys.exit(str(failed))
