"""Recordings in result files: every change of every pin, in about a byte or less.

The group ``waveform`` has the channels (`names`, `numbers`, `initial`, `counts`), their `changes`, and
the long runs of clocks (`waves`: channel, then the fields of `Wave`). `changes` is compressed (zlib): of
all channels, one after the other, the times since the change before (64 bits, of all first their lowest
byte, then the next one and so on), then by how much the level (0, 1, 2: not driven) has increased,
modulo 3. `origin_ns` is the time of the first change since power-up; `source` says where the
recording comes from: ``emulator``, ``analyzer``, or ``twin`` (predicted).
"""

import zlib
from typing import Any

from .. import resultfiles
from .changes import FLOATING, Changes
from .recording import Channel, Recording
from .wave import Wave

__all__ = ["GROUP", "RECORDED", "packed", "unpacked"]

GROUP = "waveform"
RECORDED = "recorded"
"""Name of the group that has what was recorded on the device of a laboratory during the run: of the same form, beside
the prediction, which has the same for equal runs."""
NONE = -1
"""Number of a channel that has none."""


def packed(recording: Recording, source: str) -> dict[str, Any]:
    """Return the values of the group, by name."""
    import numpy as np  # imported late: it takes 0.15 s, in which a device boots

    channels = [channel for channel in recording.channels if channel.change_count or channel.initial is not None]
    steps, levels = [], []
    for channel in channels:
        changes = Changes.of(channel.changes)
        steps.append(np.diff(changes.times, prepend=0))
        codes = np.where(changes.levels == FLOATING, 2, changes.levels)
        levels.append(np.diff(codes, prepend=0) % 3)
    waves = [(place, *wave) for place, channel in enumerate(channels) for wave in channel.waves]
    times = np.concatenate(steps or [[]]).astype("<i8")
    planes = np.ascontiguousarray(times.view(np.uint8).reshape(-1, 8).T)
    content = planes.tobytes() + np.concatenate(levels or [[]]).astype(np.int8).tobytes()
    return {
        "source": source,
        "origin_ns": recording.origin_ns,
        "names": [channel.name for channel in channels],
        "numbers": np.array([NONE if channel.number is None else channel.number for channel in channels], np.int64),
        "initial": np.array(
            [FLOATING if channel.initial is None else channel.initial for channel in channels], np.int8
        ),
        "counts": np.array([len(channel.changes) for channel in channels], np.int64),
        "changes": np.frombuffer(zlib.compress(content, 6), np.uint8),
        "waves": np.array(waves, np.int64).reshape(-1, 1 + len(Wave._fields)),
    }


def _value(item):
    """Return the value of a dataset of a file; groups, and entries of a dictionary, as they are."""
    return resultfiles.value(item) if hasattr(item, "id") and hasattr(item, "dtype") else item


def unpacked(group) -> Recording:
    """Return the recording in a group of an HDF5 file, or in a dictionary as `packed` returns it."""
    import numpy as np  # imported late: see above

    values = {name: _value(group[name]) for name in group}
    counts = [int(count) for count in values["counts"]]
    total = sum(counts)
    if min(counts, default=0) < 0:
        raise ValueError("a channel has less than no changes")
    # No more than they say: a kilobyte can become a gigabyte.
    content = zlib.decompressobj().decompress(np.asarray(values["changes"], np.uint8).tobytes(), total * 9 + 1)
    planes = np.frombuffer(content, np.uint8, total * 8).reshape(8, total)
    steps = np.ascontiguousarray(planes.T).view("<i8").reshape(total)
    levels = np.frombuffer(content, np.int8, total, total * 8)
    channels, at = [], 0
    for name, number, initial, count in zip(values["names"], values["numbers"], values["initial"], counts, strict=True):
        codes = np.cumsum(levels[at : at + count], dtype=np.int64) % 3
        channels.append(
            Channel(
                name.decode() if isinstance(name, bytes) else str(name),
                None if number == NONE else int(number),
                None if initial == FLOATING else int(initial),
                Changes(np.cumsum(steps[at : at + count]), np.where(codes == 2, FLOATING, codes).astype(np.int8)),
            )
        )
        at += count
    for place, *fields in np.asarray(values["waves"]).tolist():
        channels[place].waves.append(Wave(*fields))
    return Recording(channels, int(values["origin_ns"]))
