"""``kairos lab``: the laboratory service."""

from ..command import Command, Option
from ..options import JSON, LAB

_FOLDER = Option("--lab", metavar="FOLDER", help="folder of the laboratory; default: this folder")

COMMAND = Command(
    "run the laboratory of a folder: queue, live data and history of its experiments",
    tools={
        "start": Command(
            "start the laboratory; without a device database, on an emulated device with a virtual ion",
            _FOLDER,
            runs="lab.start",
        ),
        "status": Command("print folder, ports and size of the laboratory", LAB, JSON, runs="lab.status"),
        "end": Command("end the laboratory; runs go on, and the next one takes them over", LAB, runs="lab.end"),
    },
    default="start",
    examples=("kairos lab", "kairos lab start", "kairos lab status --json", "kairos lab end"),
)
