"""What cannot be meant is refused in one line with gate, channel and parameter; nothing else is."""

import dataclasses
import pickle

import numpy as np
import pytest

from kairos.coredevice.pulse import PulseError as KernelPulseError
from kairos.pulse import Adjustable, Branch, Core, Follow, GateSet, Mixed, Pulse, PulseError, Steps
from kairos.pulse.program import Program

CORE = Core(clock=125e6, samples_per_cycle=8, channels=2, map=2048, pulses=1024)


def x(**parameters):
    """Compile a gate x of one pulse of a microsecond."""
    length = {} if "cycles" in parameters else {"duration": 1e-6}
    return GateSet({"x": [Pulse(**{"channel": 1} | length | parameters)]})


@pytest.mark.parametrize(
    "parameters, text",
    [
        ({"sync": 4}, "gate x, channel 1, sync: 4 is not a mask of two tones: 0 for none, 1 for the first, "),
        ({"clear": -1}, "gate x, channel 1, clear: -1 is not a mask of two frames"),
        ({"at_end": 1.5}, "gate x, channel 1, at_end: 1.5 is not a mask"),
        ({"enable": "both"}, "gate x, channel 1, enable: 'both' is not a mask"),
        ({"wait": "yes"}, "gate x, channel 1, wait: 'yes' is not true or false"),
        ({"forward": 1}, "gate x, channel 1, forward: 1 is not two masks of tones"),
        ({"forward": (1, 4)}, "gate x, channel 1, forward: 4 is not two masks of tones"),
        ({"invert": (1,)}, "gate x, channel 1, invert: (1,) is not two masks of tones"),
        ({"duration": -1e-6}, "gate x, channel 1, duration: -1e-06 s is no length of time"),
        ({"duration": float("nan")}, "gate x, channel 1, duration: nan s is no length of time"),
        (
            {"duration": 1e-6, "cycles": 10},
            "gate x, channel 1, duration: 1e-06 s and 10 cycles; a pulse has one of them",
        ),
        ({"duration": "1 us"}, "gate x, channel 1, duration: '1 us' is no number"),
        ({"duration": 1e9}, "gate x, channel 1, duration: 409600000000000000 cycles are too many"),
        ({"cycles": -8}, "gate x, channel 1, cycles: -8 is not a whole number of cycles"),
        ({"cycles": 8.5}, "gate x, channel 1, cycles: 8.5 is not a whole number of cycles"),
        ({"channel": -1}, "gate x, channel: -1 is not a channel"),
        ({"channel": "a"}, "gate x, channel: 'a' is not a channel"),
        ({"channel": 9}, "gate x, channel 9: there are channels 0 to 7"),
        ({"amp0": "50"}, "gate x, channel 1, amp0: '50' is no number"),
        ({"amp0": None}, "gate x, channel 1, amp0: None is no number"),
        ({"amp0": 1j}, "gate x, channel 1, amp0: 1j is no number"),
        ({"amp0": [1, "2"]}, "gate x, channel 1, amp0: '2' is no number"),
        ({"amp1": np.linspace(0, 1, 5)}, "gate x, channel 1, amp1: an array of (5,) is no number; courses are tuples"),
        ({"phase0": Adjustable({})}, "gate x, channel 1, phase0: {} is no number"),
        ({"freq0": Follow(["a"], 1.0)}, "gate x, channel 1, freq0: a course to follow is a function of time, or "),
        ({"freq0": Follow(lambda t: "a", 1.0)}, "gate x, channel 1, freq0: 'a' is no number"),
        ({"freq0": Follow([0, 1], "small")}, "gate x, channel 1, freq0: 'small' is no number"),
        ({"freq0": Follow([1], 1.0)}, "gate x, channel 1, freq0: a course to follow is a function of time, or two or"),
        ({"amp0": Follow(lambda t: 1 / 0, 1.0)}, "gate x, channel 1, amp0: the function to follow fails at 0 s: Zero"),
        ({"amp0": Follow(lambda t: t, 1.0, 1)}, "gate x, channel 1, amp0: 1 samples; a function to follow is sampled"),
        ({"duration": None}, "gate x, channel 1, duration: None is no number; durations are in seconds"),
        ({"framerot0": Mixed([1, Mixed([2])])}, "gate x, channel 1, rotation of frame 0: a mixed course has a mixed"),
        ({"freq": 1e6}, "channel 1, freq: a pulse has no such parameter; did you mean freq0?"),
        ({"phase": 90}, "channel 1, phase: a pulse has no such parameter; did you mean phase0?"),
        ({"colour": 1}, "channel 1, colour: a pulse has no such parameter; it has channel, duration, "),
    ],
)
def test_wrong_parameter_is_named_with_its_place(parameters, text):
    with pytest.raises(PulseError) as caught:
        x(**parameters)
    assert str(caught.value).startswith(text) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: Pulse(0, 1e-6), "a pulse is given by names, with its channel: Pulse(channel=0, "),
        (lambda: Pulse(duration=1e-6), "a pulse is given by names, with its channel"),
        (lambda: GateSet({"x": Pulse(channel=0)}), "gate x: a gate is a list of pulses, not a single Pulse"),
        (lambda: GateSet({"x": 5}), "gate x: a gate is a list of pulses, not int (5)"),
        (lambda: GateSet({"x": ["y"]}), "gate x: a gate is a list of pulses; it has str ('y') in it"),
        (lambda: GateSet([Pulse(channel=0)]), "gates are given by name, as {'x': [Pulse(…)]}, not as list"),
        (lambda: GateSet({1: []}), "gate 1: the name of a gate is a text"),
        (lambda: GateSet({"x\n": []}), "gate 'x\\n': the name of a gate is a text of one line"),
        (lambda: GateSet({}).sequence([], channels=256), "channels: 256 is no mask of channels 0 to 7: 0 to 0xff"),
        (lambda: GateSet({}).sequence([], channels="0"), "channels: '0' is no mask of channels"),
        (lambda: GateSet({}, sequence="xy"), "a sequence is a list of steps, not str ('xy')"),
        (lambda: GateSet({}).sequence([1]), "a sequence: int (1) is no step; steps are names of gates, tuples of "),
        (lambda: Branch(("x", "x")), "a branch: 'x' is no case; a case is a list of names of gates"),
        (lambda: Branch("xy"), "a branch: 'xy' is no case"),
        (lambda: Branch(([1],)), "a branch: [1] is no case"),
        (lambda: Program({"x": Pulse(channel=0)}, CORE), "gate x: a gate is a list of pulses, not a single Pulse"),
    ],
)
def test_wrong_form_is_named_with_the_right_one(make, text):
    with pytest.raises(PulseError) as caught:
        make()
    assert str(caught.value).startswith(text) and "\n" not in str(caught.value)


def test_numbers_of_other_types_are_accepted():
    ours = x(freq0=1e6, amp0=[1, 2.0], sync=1, wait=True, forward=[1, 2], cycles=64)
    theirs = x(
        channel=np.int64(1),
        freq0=np.float32(1e6),
        amp0=Steps([np.array(1), np.int8(2)]),
        sync=np.uint8(1),
        wait=1,
        forward=(True, np.int64(2)),
        cycles=np.int32(64),
    )
    assert (ours.programming() == theirs.programming()).all()


def test_pulses_are_copied_and_pickled_unchanged():
    pulse = Pulse(channel=1, cycles=8, amp0=(0, 1))
    assert dataclasses.replace(pulse, amp0=5) == Pulse(channel=1, cycles=8, amp0=5)
    assert pickle.loads(pickle.dumps(pulse)) == pulse


@pytest.mark.parametrize("longer", [1, 2, 3, 4])
def test_gates_that_differ_by_few_cycles_run_in_parallel(longer):
    """Also as cases of a branch: the shorter one is followed by a pause of so many cycles."""
    gates = {
        "a": [Pulse(channel=0, cycles=40, amp0=10.0)],
        "b": [Pulse(channel=1, cycles=40 + longer, amp0=20.0)],
        "c": [Pulse(channel=0, cycles=40 + longer, amp0=30.0)],
    }
    program = Program(gates, CORE)
    assert program.sequence([("a", "b"), "c"]).duration_mu == 8 * (80 + 2 * longer)
    assert program.sequence([Branch((("a",), ("c",)))]).duration_mu == 8 * (40 + longer)


def test_number_of_a_gate_set_depends_on_its_gates():
    gates = {"x": [Pulse(channel=0, cycles=40, amp0=10.0)], "y": [Pulse(channel=1, cycles=60, amp0=10.0)]}
    one, same, other = Program(gates, CORE), Program(gates, CORE), Program({**gates, "x": gates["y"]}, CORE)
    assert one.gates == same.gates != other.gates and 0 not in (one.gates, other.gates)
    assert one["x"].number == same["x"].number != one["y"].number
    before = one.tables
    sequence = one.sequence([("x", "y")])  # needs a pause of its own
    assert before == same.tables != one.tables == sequence.tables


def test_message_of_a_kernel_names_gate_sets():
    program = Program({"x": [], "y": [], "z": [], "w": []}, CORE, name="calibration")
    error = KernelPulseError(f"a gate of gate set {program.gates:08x} is used, but gate set 00000123 is loaded: call")
    named = "a gate of gate set calibration (x, y, z, …) is used, but gate set 00000123 (of another program) is loaded"
    assert str(error).startswith(named) and str(pickle.loads(pickle.dumps(error))) == str(error)


def test_successor_differs_by_the_changed_words():
    gates = {name: [Pulse(channel=0, cycles=40, amp0=float(n))] for n, name in enumerate("abcdef", 1)}
    old = Program(gates, CORE)
    new = old.successor({**gates, "c": [Pulse(channel=0, cycles=40, amp0=33.0)]})
    assert len(new.changes) == len(new.changes_back) == 8, "one word"
    assert (new.previous, new.previous_tables) == (old.gates, old.tables) and old.previous == 0
    with pytest.raises(PulseError, match="a successor of a gate set has nothing adjustable"):
        old.successor({"a": [Pulse(channel=0, cycles=40, amp0=Adjustable(1.0))]})
