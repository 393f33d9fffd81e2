"""Recordings as Value Change Dump files, for GTKWave and the like.

The file depends on the recording only (no dates, no versions): two identical runs give identical files.
"""

from .recording import Recording

__all__ = ["write_vcd"]


def write_vcd(path, recording: Recording, title: str | None = None):
    """Write `recording` to the file `path`, with a timescale of 1 ns. Undriven pins are ``z``; boards are scopes."""
    from vcd import VCDWriter  # here, because few runs need it: 9 ms

    def value(level):
        return "z" if level is None else level

    with open(path, "w", encoding="ascii", newline="\n") as file:
        with VCDWriter(file, timescale="1 ns", date="", version="Kairos") as writer:
            scopes = recording.board_names()
            variables = []
            changes = []
            for position, channel in enumerate(recording.channels):
                scope, initial = scopes[channel.board], value(channel.initial)
                variables.append(writer.register_var(scope, channel.name, "wire", size=1, init=initial))
                changes += [(time, position, level) for time, level in channel.changes]
            for time, position, level in sorted(changes, key=lambda change: change[:2]):
                writer.change(variables[position], time, value(level))
            # One more nanosecond, so that viewers show the last change.
            writer.close(recording.duration_ns + 1)
