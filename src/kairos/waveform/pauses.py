"""Long pauses of a recording, which a picture leaves out: pulses of some microseconds, milliseconds
apart, would be lines without a width."""

from .recording import Recording

__all__ = ["between_pauses"]

_PAUSES = 3
"""A picture leaves out so many at most."""
_BUSY = 0.1
"""…and none unless what is left is at most this share of the whole."""


def between_pauses(recording: Recording) -> list[tuple[int, int]]:
    """(first, last) time in ns of each piece of the recording: the whole in one, or what is between
    its longest pauses if that is a small part of it. As few pauses as do; none with one change alone
    on a side, which is the length of a pulse."""
    whole = (0, recording.duration_ns)
    busy = sorted(_busy(recording))
    gaps, end = [], 0
    for first, last in busy:
        gaps.append((first - end, end, first))
        end = max(end, last)
    longest = sorted(gaps, reverse=True)
    for count in range(1, min(_PAUSES, len(longest)) + 1):
        left_out = sum(length for length, _, _ in longest[:count])
        if whole[1] - left_out <= _BUSY * whole[1]:
            pauses = sorted((start, end) for _, start, end in longest[:count])
            starts = [0, *(end for _, end in pauses)]
            pieces = list(zip(starts, [*(start for start, _ in pauses), whole[1]], strict=True))
            return pieces if all(first < last for first, last in pieces) else [whole]
    return [whole]


def _busy(recording: Recording):
    """(first, last) time of each change, and of each run of a clock."""
    for channel in recording.channels:
        for time, _ in channel.changes:
            yield time, time
        for wave in channel.waves:
            yield wave.time_of(0), wave.time_of(wave.changes - 1)
