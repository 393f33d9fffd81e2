"""What a run shows of the pins, as a table and as a picture."""

from collections.abc import Iterable
from dataclasses import replace

from ..waveform import Recording
from ..waveform.table import format_table
from ..waveform.window import Window
from .command import suggestion

__all__ = ["Shown"]

INITIALISING = ("init", "reset")
"""Methods of drivers whose outputs are the initialisation of devices, until anything else is done."""
SKIPPED = "the devices' initialisation (--from 0s shows it)"


class Shown:
    """The `recording` of a run on `device`, with the database `entries`, of which a `window` is
    shown: by default what follows the initialisation of devices."""

    def __init__(self, recording: Recording, device, entries: dict, window: Window):
        self.recording = recording
        self._listed = None
        if any("_cs" in channel.name for channel in recording.active()):
            # Imported late: it loads NumPy, and drivers of cards.
            from ..scope.listed import Listed

            self._listed = Listed(recording, entries)
        if self._listed is not None and window == Window(channels=window.channels):
            start = _initialised_ns(device, recording)
            window = replace(window, start_ns=start, skipped=SKIPPED) if start else window
        self.window = window

    def unknown(self, devices: Iterable[str]) -> list[str]:
        """Return a sentence for each channel that was asked for and is none; `devices`: names in the device database,
        which may have had no activity."""
        known = {"_".join(parts[:end]) for parts in self._names() for end in range(1, len(parts) + 1)} | {*devices}
        return [
            f"--channels {name}: there is no such channel{suggestion(name, known)}"
            for name in self.window.channels or ()
            if name not in known
        ]

    def _names(self) -> list[list[str]]:
        return [channel.name.split("_") for channel in self.recording.channels]

    def table(self, limit: int | None) -> str:
        """Return the table."""
        return format_table(self.recording, limit, self._listed, self.window)

    def lanes(self) -> list:
        """Return the messages on buses, for the picture."""
        return [] if self._listed is None else self._listed.lanes()

    def has_activity(self) -> bool:
        """Return whether anything happens in the window."""
        window = self.window.resolved(self.recording)
        pins = window.part(self.recording).event_count
        return bool(pins or (self._listed is not None and self._listed.count(window)))


def _initialised_ns(device, recording: Recording) -> int | None:
    """Return the time of the first output that no driver's initialisation has made; None if it has
    made none, or all."""
    import numpy as np  # imported late: few runs have chips to initialise

    sources = device.sources()
    outputs = sources.outputs
    chains = [chain for chain in np.unique(outputs["chain"]).tolist() if sources.called_by(chain, INITIALISING)]
    later = outputs["time_ns"][~np.isin(outputs["chain"], chains)]
    if not chains or not len(later):
        return None
    first = int(later.min()) - recording.origin_ns
    return first if first > 0 else None
