"""The page of a run on an emulated device."""

from ..waveform import Recording
from .bench import lanes_of_bench
from .page import write_page
from .pins import lanes_of_pins
from .serial import Labels

__all__ = ["write_run"]


def write_run(path, recording: Recording, entries: dict, device, title: str):
    """Write the page of a `recording` of a `device`, with what is wired to its pins; `entries` are those of its device
    database. OSError if it cannot be written."""
    lanes = [*lanes_of_bench(device, recording), *lanes_of_pins(recording, Labels(entries))]
    write_page(path, title, lanes, recording.duration_ns)
