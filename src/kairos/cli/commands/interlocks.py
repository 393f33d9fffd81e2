"""``kairos interlocks``: rules that the waveform of an experiment must keep."""

from ..command import Command
from ..options import EXPERIMENT, JSON, TWIN

_FILE, *_REST = EXPERIMENT
_TWIN = [option for option in TWIN if "--least-slack" not in option.names]

COMMAND = Command(
    "check the waveform that an experiment would have against the rules of interlocks.toml",
    tools={
        "check": Command(
            "rehearse an experiment, and report the rules that it violates; exit code 1 if there are any",
            _FILE,
            *_REST,
            *_TWIN,
            JSON,
            runs="twin:commands.interlocked",
        ),
        "list": Command(
            "check the file of rules, and print them",
            _REST[1],
            *(option for option in TWIN if "--interlocks" in option.names),
            JSON,
            runs="twin:commands.rules",
        ),
    },
    examples=(
        "kairos interlocks list",
        "kairos interlocks check ramp.py volts=9.8",
    ),
)
