"""`kairos submit` and `kairos run` have the same options where the same is meant, and take arguments alike."""

import argparse

import pytest

from kairos import pyon
from kairos.cli import parser, submit
from kairos.errors import UsageError
from kairos.experiment.arguments import (
    BooleanValue,
    EnumerationValue,
    NumberValue,
    Processor,
    PYONValue,
    StringValue,
)
from kairos.experiment.environment import ProcessArgumentManager
from kairos.experiment.scan import RangeScan, Scannable

TWIN = "the laboratory has one device for all runs: it is described in its device_db.py and bench.toml"
WAVEFORM = (
    "the file of each run has its waveform ([rehearsal] waveforms in lab.toml): 'kairos plot', 'kairos runs diff'"
)
ALONE = {
    "run": {
        "file": "'experiment' of submit: an experiment of the repository has a name, too",
        "--device-db": "lab.toml names it, for all runs",
        "--dataset-db": "lab.toml names it, for all runs",
        "--strict": "'kairos check --strict' answers before anything is submitted",
        "--vcd": WAVEFORM,
        "--plot": WAVEFORM,
        "--scope": WAVEFORM,
        "--pulses": WAVEFORM,
        "--table": WAVEFORM,
        "--no-table": WAVEFORM,
        "--from": WAVEFORM,
        "--to": WAVEFORM,
        "--last": WAVEFORM,
        "--channels": WAVEFORM,
        "--hdf5": "each run of a laboratory has its file",
        "--record-inputs": "[rehearsal] inputs in lab.toml, for all runs",
        "--applets": "the page shows them, and ARTIQ's dashboard",
        "--quiet": "submit prints the number of the run only",
        "--log": "kairos lab keeps the log of its device",
        "--bench": TWIN,
        "--wire": TWIN,
        "--no-bench": TWIN,
        "--no-skip": TWIN,
        "--no-rounding-warning": TWIN,
        "--set": TWIN,
        "--forward": TWIN,
    },
    "submit": {
        "experiment": "'file' of run",
        "--revision": "run takes the file as it is",
        "--pipeline": "run has no queue",
        "--priority": "run has no queue",
        "--due": "run has no queue",
        "--flush": "run has no queue",
        "--after": "run has no queue",
        "--repeat": "run has no queue",
        "--hold": "run has no queue",
        "--rehearse": "'kairos rehearse FILE'",
        "--wait": "run always waits",
        "--lab": "run needs no laboratory",
        "--json": "run shows what the experiment prints; -o writes its data",
    },
}
"""Options that only one of both has, by their long names, and why the other one lacks them."""


def options(name: str) -> dict[str, argparse.Action]:
    """Returns the options of a command as its parser has them, by each of their names."""
    (commands,) = parser([name])._subparsers._group_actions
    found = [action for action in commands.choices[name]._actions if action.dest != "help"]
    return {each: action for action in found for each in action.option_strings or [action.dest]}


def described(action: argparse.Action) -> dict:
    return {name: value for name, value in vars(action).items() if name not in ("container", "completes")}


def test_options_that_run_and_submit_share_are_spelt_and_explained_alike():
    run, submitted = options("run"), options("submit")
    shared = run.keys() & submitted.keys()
    assert {"arguments", "--class-name", "-c", "--verbose", "-v"} <= shared
    for name in sorted(shared):
        assert described(run[name]) == described(submitted[name]), name
        assert run[name].completes == submitted[name].completes


@pytest.mark.parametrize("name, other", [("run", "submit"), ("submit", "run")])
def test_option_that_only_one_command_has_is_explained(name, other):
    mine, theirs = options(name), options(other)
    alone = {each for each, action in mine.items() if not each.startswith("-") or each.startswith("--")} - theirs.keys()
    lacking, stale = sorted(alone - ALONE[name].keys()), sorted(ALONE[name].keys() - alone)
    assert not lacking, f"'kairos {name}' has {', '.join(lacking)}, 'kairos {other}' not: add them, or explain in ALONE"
    assert not stale, f"'kairos {name}' alone does not have {', '.join(stale)} any more"


class Percent(Processor):
    """A kind of argument of an experiment's own."""

    def accepts(self, x):
        return isinstance(x, int | float)

    def converted(self, x):
        return x / 100


class Duration(NumberValue):
    """Likewise, with a unit."""


PROCESSORS = [
    PYONValue(1),
    BooleanValue(True),
    EnumerationValue(["a", "b"]),
    EnumerationValue(["1", "true", '"a"']),
    NumberValue(1e-6, unit="us", min=-1.0, max=1.0),
    NumberValue(1, precision=0, step=1, type="int"),
    StringValue("x"),
    Scannable(RangeScan(0.0, 1.0, 3), unit="us", global_max=4e-6),
    Percent(5),
    Duration(1e-6, unit="us"),
]
TEXTS = [
    *"5|7.0|-2.5e3|20us|80*MHz|3 kHz|1e999|nan|true|False|null|None| 5 |1_000|1|1.5|-1".split("|"),
    *"""a|"a"|'a'|"'a'"|"|\\|b'a'|=|a=b|""".split("|"),
    *"[1, 2]|(1, 2)|[1us, 2us]|1:3:5|1us:3us:2|1us:3us:4:random|1:2|{}".split("|"),
    '{"ty": "NoScan", "value": 1e-6, "repetitions": 2}',
]


def outcome(call):
    """Returns what an experiment gets, or that its argument is refused."""
    try:
        return repr(call())
    except (ValueError, UsageError):
        return "refused"


def test_argument_is_the_same_value_by_run_and_submit():
    known = {type(processor).__name__ for processor in PROCESSORS}
    assert {*submit._KINDS, "PYONValue"} <= known
    for processor in PROCESSORS:
        arginfo = {"x": (processor.describe(), None, None)}

        def run(text, processor=processor):
            return ProcessArgumentManager({"x": text}, typed=True).get("x", processor)

        def submitted(text, processor=processor, arginfo=arginfo):
            sent = pyon.encode(submit.answers([f"x={text}"], arginfo, "Scan"))
            return ProcessArgumentManager(pyon.decode(sent)).get("x", processor)

        for text in TEXTS:
            by_run, by_submit = (outcome(lambda of=of, text=text: of(text)) for of in (run, submitted))
            assert by_run == by_submit, (type(processor).__name__, text)
