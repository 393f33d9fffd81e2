"""``kairos submit``: puts an experiment into the laboratory's queue."""

from ..command import Command, Option
from ..options import ARGUMENTS, CLASS, JSON, LAB, VERBOSE, between

COMMAND = Command(
    "put an experiment into the queue of the laboratory",
    Option(
        "experiment",
        metavar="EXPERIMENT",
        completes="experiment",
        help="name or class of an experiment, or file in the repository or elsewhere",
    ),
    ARGUMENTS,
    CLASS,
    Option("-r", "--revision", metavar="REVISION", help="revision of the repository; default: the one scanned last"),
    Option(
        "-p",
        "--pipeline",
        metavar="NAME",
        completes="pipeline",
        help="pipeline; default: as the experiment proposes, or main",
    ),
    Option("-P", "--priority", metavar="N", type=int, help="priority, higher first; default: as proposed, or 0"),
    Option("-t", "--due", metavar="TIME", help="not to be prepared before: 22:30, or 2026-05-01T22:30"),
    Option("-f", "--flush", action="store_true", help="wait until the pipeline is empty"),
    Option("--after", metavar="RUN", type=int, completes="queued", help="wait until this run has succeeded"),
    Option(
        "--repeat", metavar="N", type=between(-1), help="submit it again N times, each time at its end; -1: without end"
    ),
    Option("--hold", metavar="NOTE", help="hold it until 'kairos queue release'"),
    Option(
        "--rehearse", action="store_true", help="run it on the twin of the laboratory only; exit code 1 if it fails"
    ),
    Option("-w", "--wait", action="store_true", help="wait for its end; exit code 1 unless it has succeeded"),
    VERBOSE,
    LAB,
    JSON,
    runs="submit.submit",
    examples=(
        "kairos submit 'Rabi flop' points=50 longest=100us",
        "kairos submit scans/ramsey.py -c Ramsey detuning=-5kHz:5kHz:21 --priority 1 --wait",
        "kairos submit rabi_flop.py --due 22:30 --repeat 10",
        "kairos submit rabi_flop.py points=100 --rehearse",
    ),
)
