"""Random streams of RTIO commands through compiled kernel, real firmware and verilated gateware,
compared with a model of RTIO semantics (`kairos_gateware.sim.model`): the kernel's results, and the
pins, with and without time skip.
"""

import logging
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kairos_gateware.verilated.model import Model

from kairos.cli.experiments import Experiment
from kairos.devices import DeviceDB
from tests.support.paths import ROOT

# As in experiments/streams.py
OUTPUT, READ, WAIT, POLL = range(4)
UNDERFLOW, UNREACHABLE = 2, 4
KINDS = ["ttl_inout"] * 4 + ["ttl_out"] * 8 + ["log"]
PADS = 12
MARKER, MARKER_TIME = 11, -60_000
"""A pad that goes high at that time of each stream: everything after it is compared."""
SETTLING_TIME = 4000
"""Machine units after the last command in which everything settles."""
COLLISION, SEQUENCE_ERROR = "collision(s)", "sequence error(s)"
MODES = pytest.mark.parametrize("skip", [True, False], ids=["skip", "no skip"])


def opening():
    """Return commands that bring all channels into the model's initial state: nothing sensitive,
    nothing driven, all low."""
    targets = [channel << 8 | address for address in (2, 0, 1) for channel in range(4)]
    targets += [channel << 8 for channel in range(4, PADS)]
    outputs = [(OUTPUT, target, MARKER_TIME - 1000 * (len(targets) - n), 0) for n, target in enumerate(targets)]
    return [*outputs, (OUTPUT, MARKER << 8, MARKER_TIME, 1), (OUTPUT, MARKER << 8, MARKER_TIME + 1000, 0)]


CHANNELS = st.sampled_from([0, 0, 1, 3, 4, 4, 5, 11, 12, 13])
AHEAD = st.sampled_from([0, 30_000])
"""Cursor movements after the kernel has waited: what follows is too late, or in time."""

# Times are relative to a cursor, as in an experiment.
_ACTION = st.one_of(
    st.tuples(st.just("output"), CHANNELS, st.integers(0, 3), st.integers(0, 3)),
    st.tuples(
        st.just("burst"),
        st.lists(st.tuples(CHANNELS, st.integers(0, 1)), min_size=2, max_size=20),
        st.integers(-20, 20),
    ),
    st.tuples(st.just("delay"), st.one_of(st.integers(-40, 40), st.integers(-3000, 3000), st.integers(0, 30_000))),
    st.tuples(st.just("gate"), st.integers(0, 3), st.integers(1, 20), st.integers(1, 5), st.integers(0, 3)),
    st.tuples(st.just("read"), st.sampled_from([0, 0, 1, 3, 4]), st.integers(-100, 1000), AHEAD),
    st.tuples(st.just("wait"), st.integers(-3000, 3000), AHEAD),
    st.tuples(st.just("look")),
)
STREAMS = st.tuples(st.lists(st.integers(0, 1), min_size=4, max_size=4), st.lists(_ACTION, min_size=4, max_size=30))


def commands_of(actions):
    """Return (command, target, time, data) of each command, and the latest time."""
    commands, reads, cursor = opening(), [], 0
    for action, *args in actions:
        if action == "output":
            channel, address, data = args
            commands.append((OUTPUT, channel << 8 | (address if channel < 4 else 0), cursor, data))
        elif action == "burst":
            outputs, step = args
            commands += [(OUTPUT, c << 8, cursor + step * n, data) for n, (c, data) in enumerate(outputs)]
        elif action == "delay":
            cursor = max(cursor + args[0], 0)
        elif action == "gate":
            channel, length, edges, sensitivity = args
            commands.append((OUTPUT, channel << 8 | 1, cursor, 1))
            commands.append((OUTPUT, channel << 8 | 2 + length % 2, cursor + 8, sensitivity))
            for n in range(edges):
                commands.append((OUTPUT, channel << 8, cursor + 16 + 8 * length * n, ~n & 1))
            cursor += 24 + 8 * length * edges
            commands.append((OUTPUT, channel << 8 | 2, cursor, 0))
            reads += [(READ, channel << 8, cursor, 0)] * (edges + 2)
        elif action == "read":
            channel, distance, ahead = args
            commands.append((READ, channel << 8, cursor + distance, 0))
            cursor += ahead
        elif action == "wait":
            distance, ahead = args
            commands.append((WAIT, 0, cursor + distance, 0))
            cursor += ahead
        else:
            commands.append((POLL, 0, 0, 0))
    commands += reads
    return commands, max(command[2] for command in commands)


@dataclass
class Answer:
    """status, time (absolute), data as returned to the kernel; before, after: counter in machine
    units at some instant before and after the command was executed."""

    status: int
    time: int
    data: int
    before: int
    after: int


class Player:
    """Plays streams on one device, each in a separate run of the same compiled kernel."""

    def __init__(self, device, database):
        self.device = device
        self.experiment = Experiment(ROOT / "tests/e2e/experiments/streams.py", "Streams", [], database).instance
        self.run = self.experiment.core.precompile(type(self.experiment).run, self.experiment)
        self.shift = None

    def play(self, levels, commands, end):
        """levels: of the pads 0 to 3 where the device does not drive them. Returns the absolute
        time 0, the answers, and the changes at the pads as (absolute time, pad, level or None)."""
        for pad, level in enumerate(levels):
            self.device.control("pad", index=pad, level=level)
        self.device.control("trace_clear")
        self.experiment.commands = [value for command in commands for value in command]
        self.experiment.end = end + SETTLING_TIME
        self.run()
        start, flat = self.experiment.start, self.experiment.answers
        changes = [tuple(change) for change in self.device.control("trace", **{"from": 0})["events"]]
        if self.shift is None:  # on a fresh device the marker is the first change of its pad
            first = next(time for time, pad, _ in changes if pad == MARKER)
            self.shift = start + MARKER_TIME - first
        return start, self._answers(start, flat), [(time + self.shift, *rest) for time, *rest in changes]

    def _answers(self, start, flat):
        counters = flat[3::4]
        answers = []
        before = 0
        for n, (status, time, data) in enumerate(zip(flat[0::4], flat[1::4], flat[2::4], strict=True)):
            after = next((counter for counter in counters[n:] if counter), 2**62)
            answers.append(Answer(status, time, data, before, after))
            before = counters[n] or before
        return answers


def check(player, errors, levels, actions):
    commands, end = commands_of(actions)
    errors.clear()
    start, answers, changes = player.play(levels, commands, end)
    model = Model(KINDS)
    for (command, target, time, data), answer in zip(commands, answers, strict=True):
        if command == OUTPUT:
            # The kernel does not know when exactly the output was accepted: its answer must fit one
            # of the times.
            now = (answer.after if answer.status == UNDERFLOW else answer.before) >> 3
            assert model.output(now, target >> 8, target & 255, start + time, data) == answer.status
        elif command == WAIT:
            assert answer.after >= start + time
    expected = {COLLISION} if model.collisions() else set()
    expected |= {SEQUENCE_ERROR} if model.sequence_errors else set()
    assert set(", ".join(errors).split(", ")) - {""} == expected
    assert visible(changes, start) == visible(pads(model), start)
    queues = {channel: model.input_events(channel, [(0, levels[channel])]) for channel in range(4)}
    for (command, target, time, _), answer in zip(commands, answers, strict=True):
        if command == READ:
            check_read(queues, target >> 8, start + time, answer)


def check_read(queues, channel, timeout, answer):
    """Check for the next event up to the timeout, or one that was available when the read began."""
    if channel not in queues:
        assert answer.status == UNREACHABLE
        return
    assert answer.status == 0
    if answer.time == -1:
        assert answer.after >= timeout
        assert not queues[channel] or 8 * queues[channel][0][0] > max(timeout, answer.before - 64)
    else:
        coarse, level = queues[channel].pop(0)
        assert (answer.time, answer.data) == (8 * coarse, level)
        assert answer.time <= max(timeout, answer.after)


def pads(model):
    """Return the changes in the format of the emulator's trace: an undriven pad has no level."""
    shown = dict.fromkeys(range(4)) | dict.fromkeys(range(4, PADS), 0)
    for coarse, pad, level, driven in model.pad_changes():
        level = level if driven else None
        if level != shown[pad]:
            shown[pad] = level
            yield 8 * coarse, pad, level


def visible(changes, start):
    """Return the changes of the stream itself, ordered by time and pad, relative to its time 0."""
    return sorted((t - start, pad, str(level)) for t, pad, level in changes if t >= start + MARKER_TIME)


@pytest.fixture(scope="module")
def player(device, tmp_path_factory):
    database = tmp_path_factory.mktemp("streams") / "device_db.py"
    text = (ROOT / "examples" / "device_db.py").read_text()
    database.write_text(text.replace('"emulator://demo"', f'"{device.host}:{device.port}"'))
    player = Player(device, DeviceDB.load(database))
    yield player
    player.experiment.core.close()


@pytest.fixture
def errors():
    """Names of the asynchronous errors that the device has reported at the ends of kernels."""
    names, logger = [], logging.getLogger("kairos.session.client")

    class Keep(logging.Handler):
        def emit(self, record):
            names.append(record.args[0])

    handler = Keep()
    logger.addHandler(handler)
    logger.propagate = False  # otherwise a failure is shown with the warnings of all streams
    yield names
    logger.removeHandler(handler)
    logger.propagate = True


SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


@MODES
@settings(SETTINGS, max_examples=12)
@given(STREAMS)
def test_random_streams_execute_in_order(player, errors, skip, stream):
    player.device.control("set", skip=skip)
    check(player, errors, *stream)


@pytest.mark.long
@MODES
@settings(SETTINGS, max_examples=400)
@given(STREAMS)
def test_many_random_streams_execute_in_order(player, errors, skip, stream):
    player.device.control("set", skip=skip)
    check(player, errors, *stream)
