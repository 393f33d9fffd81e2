"""``kairos runs``: the laboratory's history."""

from ..command import Command, Option
from ..options import CHANGED, DEVICE_DB, JSON, LAB, RUN, between

NAMED = "number of the run, or its HDF5 file"

COMMAND = Command(
    "search the finished runs of the laboratory, compare them, run them again",
    tools={
        "list": Command(
            "list the runs that match all conditions, the newest first",
            Option(
                "conditions",
                metavar="CONDITION",
                nargs="*",
                completes="condition",
                help="text, or NAME=VALUE (or <, <=, >, >=, !=) with an argument, status, person, tag, rid, started",
            ),
            Option(
                "-n",
                "--number",
                metavar="N",
                type=between(0),
                default=20,
                help="at most N; 0: all; default: %(default)s",
            ),
            LAB,
            JSON,
            runs="history.list_all",
        ),
        "show": Command("print everything that is known of a run", RUN, LAB, JSON, runs="history.show"),
        "compare": Command(
            "print what differs between two runs",
            RUN,
            Option("other", metavar="OTHER", type=int, completes="run", help="number of the other run"),
            LAB,
            JSON,
            runs="history.compare",
        ),
        "diff": Command(
            "list what differs between two runs: events of the pins, registers of chips; exit code 1 if something does",
            *(Option(name, metavar=name.upper(), completes="run", help=NAMED) for name in ("run", "other")),
            Option(
                "--record",
                action="store_true",
                help="compare what the devices' analyzers have recorded (kairos run --record-inputs), also of files "
                "with waveforms",
            ),
            LAB,
            JSON,
            runs="twin:comparison.diff",
        ),
        "chips": Command(
            "print what was in the registers of all chips at the end of a run, or write it back to the device",
            Option("run", metavar="RUN", completes="run", help=NAMED),
            Option("cards", metavar="CARD", nargs="*", help="only these cards, such as urukul0"),
            Option(
                "--restore",
                action="store_true",
                help="write the registers back: for the number of a run in a run of the laboratory, for a file on the "
                "device of --device-db",
            ),
            DEVICE_DB,
            LAB,
            JSON,
            runs="restore:command.chips",
        ),
        "verify": Command(
            "repeat a run on the twin from its file, and compare; exit code 1 if something differs",
            Option("run", metavar="RUN", completes="run", help=NAMED),
            LAB,
            JSON,
            runs="twin:verification.verify",
        ),
        "repeat": Command(
            "submit a run again: same source, same commit, same arguments except those given",
            RUN,
            CHANGED,
            LAB,
            JSON,
            runs="history.repeat",
        ),
        "analyze": Command(
            "submit the analysis of runs again: 'analyze' with their own source and data, without devices",
            Option("runs", metavar="RUN", type=int, completes="run", nargs="+", help="numbers of the runs"),
            Option("-w", "--wait", action="store_true", help="wait for the end"),
            LAB,
            JSON,
            runs="history.analyze",
        ),
        "export": Command(
            "write runs that match all conditions as a table, or the points of one run",
            Option("conditions", metavar="CONDITION", nargs="*", completes="condition", help="as for 'list'"),
            Option(
                "--points",
                metavar="RUN",
                type=int,
                completes="run",
                help="the datasets of this run instead, as columns",
            ),
            Option("-o", "--output", metavar="FILE", required=True, help="FILE.parquet, FILE.arrow or FILE.csv"),
            LAB,
            runs="history.export",
        ),
        "tag": Command(
            "give runs a tag",
            Option("tag", metavar="TAG", completes="tag", help="the tag"),
            Option("runs", metavar="RUN", type=int, completes="run", nargs="+", help="numbers of the runs"),
            Option("--remove", action="store_true", help="remove the tag"),
            LAB,
            runs="history.tag",
        ),
        "note": Command(
            "add a note to a run", RUN, Option("text", metavar="TEXT", help="the note"), LAB, runs="history.note"
        ),
        "reindex": Command("rebuild the index from the files of the runs", LAB, runs="history.reindex"),
    },
    default="list",
    examples=(
        "kairos runs",
        "kairos runs list rabi 'points>=25' status=completed --json",
        "kairos runs show 12",
        "kairos runs compare 12 15",
        "kairos runs diff 12 15",
        "kairos runs diff before.h5 after.h5 --json",
        "kairos runs chips 12",
        "kairos runs chips 12 urukul0 --restore",
        "kairos runs verify 12",
        "kairos runs repeat 12 points=100",
        "kairos runs analyze 12 --wait",
        "kairos runs export rabi status=completed -o runs.parquet",
        "kairos runs export --points 12 -o run12.arrow",
        "kairos runs tag good 12 15",
        "kairos runs note 12 'best contrast so far'",
        "kairos runs reindex",
    ),
)
