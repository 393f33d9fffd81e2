"""The page of a run on an emulated device."""

from collections.abc import Mapping, Sequence

from ..waveform import Recording
from .bench import lanes_of_bench
from .page import write_page
from .pins import lanes_of_pins
from .serial import Labels
from .source import lanes_of_source
from .steps import Steps

__all__ = ["write_run"]


def write_run(
    path,
    recording: Recording,
    entries: dict,
    names: dict[int, str],
    device,
    title: str,
    steps: Sequence = (),
    texts: Mapping[str, str] | None = None,
):
    """Write the page of a `recording` of a `device`, with the source lines of its kernels and the
    parts wired to its pins; `entries` are those of its device database, `names` those of RTIO
    channels. `steps`: those of its kernels (`kairos.compiler.steps.Step`), for the page's debugger, with the `texts`
    of source files by their names. UsageError if it cannot be written.
    """
    sources = device.sources()
    lanes = [
        *lanes_of_source(sources, recording.origin_ns, names),
        *lanes_of_bench(device, recording),
        *lanes_of_pins(recording, Labels(entries)),
    ]
    write_page(path, title, lanes, recording.duration_ns, Steps(steps, recording.origin_ns, texts or {}))
