"""Variant `servo`, verilated: the SU-Servo behind the kernel initiator, with models of the cards at
its pads."""

import math
from copy import deepcopy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kairos_gateware.servo.adc import READ_CYCLES
from kairos_gateware.servo.format import T_CYCLE, AddressMap
from kairos_gateware.servo.model import ChannelModel, Profile
from kairos_gateware.servo.servo import latency
from kairos_gateware.servo.test_iir import PROFILE, X
from kairos_gateware.testbenches.servo import SamplerModel, UrukulModel
from kairos_gateware.variants import VARIANTS
from kairos_gateware.verilated.library import Ps

CHANNEL = {spec.name: number for number, spec in enumerate(VARIANTS["servo"].channels)}
MAP = AddressMap(2)
CHANNELS = 8
REGISTER = 0x0E + 7
ENABLED, IDLE, FAILED = 1, 2, 4
# From the event that enables the servo to the rise of CNV
ENABLE_CYCLES = 2


class Lab(Ps):
    """The PL with the cards. every_cycle: called in each cycle, to change the card's inputs."""

    def __init__(self, library, delay=24, skip=False):
        super().__init__(library, skip=skip)
        index = {entry["name"]: entry["index"] for entry in library.info["pads"]}
        self.card = SamplerModel(delay)
        self.cards = [UrukulModel(chip_select=False) for _ in range(2)]
        self.every_cycle = lambda: None
        self._in = [index[f"suservo0_{name}"] for name in ["clkout", "sdo0", "sdo1", "sdo2", "sdo3"]]
        self._adc = [index[f"suservo0_{name}"] for name in ["cnv", "sck"]]
        self._dds = [
            [index[f"suservo0_urukul{i}_{name}"] for name in ["clk", *(f"mosi{j}" for j in range(4))]]
            + [index[f"ttl_urukul{i}_io_update"]]
            for i in range(2)
        ]
        self.pad = index

    def step(self):
        super().step()
        pads = self.out.pads_o
        self.every_cycle()
        clkout, lanes = self.card.step(*[pads[i] & 1 for i in self._adc])
        for i, samples in zip(self._in, [clkout, *lanes], strict=True):
            self.inputs.pads_i[i] = samples
        for card, (clk, *mosi, update) in zip(self.cards, self._dds, strict=True):
            card.step(pads[clk] & 1, None, [pads[i] & 1 for i in mosi], pads[update])

    def now(self, slack=100):
        """A coarse time that an output may have."""
        return self.out.sim_tsc + slack

    def put(self, address, value):
        rtio, data = MAP.event(address | MAP.write, value)
        assert self.output(CHANNEL["suservo0"], 8 * self.now(), data, address=rtio) == 0

    def get(self, address):
        rtio, data = MAP.event(address)
        time = self.now()
        assert self.output(CHANNEL["suservo0"], 8 * time, data, address=rtio) == 0
        status, stamp, value = self.input(CHANNEL["suservo0"], -1)
        assert (status, stamp) == (0, 8 * time)
        assert (value & 0xFFFFFFFF) >> 17 in (0, 0x7FFF), "the sign fills the bits above"
        return value & 0x3FFFF

    def set(self, channel, out, iir, profile, time=None):
        time = time or self.now()
        data = out | iir << 1 | profile << 3
        assert self.output(CHANNEL[f"suservo0_ch{channel}"], 8 * time, data) == 0
        return time

    def configure(self, time, value):
        """A write to the configuration at a coarse time."""
        rtio, data = MAP.event(MAP.config | MAP.write, value)
        assert self.output(CHANNEL["suservo0"], 8 * time, data, address=rtio) == 0

    def load(self, channel, number, profile):
        for name, value in profile.words().items():
            self.put(MAP.word(channel, number, name), value)
        self.put(MAP.y(channel, number), profile.y >> 7)


@pytest.fixture
def boot(built):
    made = []

    def make(**options):
        made.append(built("servo").boot(Lab, **options))
        return made[-1]

    yield make
    for ps in made:
        ps.close()


def edges(ps, name):
    """Changes of a pad in ns."""
    result, level = [], 0
    for coarse, pad, (samples, _) in ps.changes:
        if pad == ps.pad[name]:
            for i in range(8):
                if samples >> i & 1 != level:
                    level = samples >> i & 1
                    result.append((8 * coarse + i, level))
    return result


def test_memory_words_are_read_as_written(boot):
    """Every word and every Y has its own place, and is read as it was written."""
    ps = boot(skip=True)
    places = [MAP.word(c, p, n) for c, p in [(0, 0), (0, 31), (5, 9), (7, 31)] for n in Profile().words()]
    places += [MAP.y(c, p) for c, p in [(0, 0), (0, 31), (5, 9), (7, 31)]]
    values = {
        place: (0x15A5A * (n + 3) & (0x1FFFF if place & MAP.state else 0x3FFFF)) for n, place in enumerate(places)
    }
    for place, value in values.items():
        ps.put(place, value)
    assert {place: ps.get(place) for place in places} == values


def test_status_and_samples_follow_the_last_conversion(boot):
    ps = boot()
    assert ps.get(MAP.config) == IDLE
    ps.card.inputs = first = [100 * i - 350 for i in range(8)]
    ps.put(MAP.config, 1)
    ps.advance(ps.now(400))
    assert ps.get(MAP.config) & 7 == ENABLED
    ps.card.inputs = second = [-(2**15), 2**15 - 1, 0, 1, -1, 2, -2, 3]
    held = len(ps.card.samples)
    while len(ps.card.samples) == held:
        ps.step()
    ps.put(MAP.config, 0)
    ps.advance(ps.now(T_CYCLE + latency(CHANNELS)))
    assert [ps.get(MAP.x(i)) for i in range(8)] == [2 * x & 0x3FFFF for x in second]
    last = ps.card.samples[-2][1]
    assert last == first or last == second
    assert [ps.get(MAP.x(i, before=True)) for i in range(8)] == [2 * x & 0x3FFFF for x in last]
    assert ps.get(MAP.config) == IDLE


def test_servo_is_idle_within_the_drivers_wait(boot):
    """3 us after the servo is switched off at the worst moment, with a sample just begun, nothing
    is in progress."""
    ps = boot()
    enable = ps.now(200)
    ps.configure(enable, 1)
    off = enable + 2 * T_CYCLE + 1
    ps.configure(off, 0)
    for settled in [0, 1]:
        ps.advance(off + (375 if settled else 300))
        assert ps.out.sim_quiet == settled
    assert len(ps.card.samples) == 3
    assert ps.get(MAP.config) == IDLE


def test_sample_period_and_update_latency_are_exact(boot):
    """One sample per 146 cycles (1.168 us); from it to the resulting update 321 cycles (2.568
    us)."""
    ps = boot()
    ps.load(3, 1, Profile(b0=2048))
    ps.set(3, 1, 1, 1)

    def ramp():
        ps.card.inputs = [1000 * (len(ps.card.samples) + 1)] * 8

    ps.every_cycle = ramp
    ps.changes.clear()
    enable = ps.now(200)
    ps.configure(enable, 1)
    ps.advance(enable + 10 * T_CYCLE)
    falls = [time for time, level in edges(ps, "suservo0_cnv") if not level]
    updates = [time for time, level in edges(ps, "ttl_urukul0_io_update") if level]
    assert falls == [8 * (enable + ENABLE_CYCLES + 4 + n * T_CYCLE) for n in range(len(falls))]
    assert [update - fall for fall, update in zip(falls, updates, strict=False)] == [8 * 321] * len(updates)
    assert (latency(8), latency(4)) == (321, 305)
    # Y is half of X in units of full scale
    written = [registers[3][REGISTER] >> 48 for _, registers in ps.cards[0].updates]
    assert written == [1000 * (n + 1) << 8 >> 10 for n in range(len(updates))]
    assert len(updates) == 8


_SET = st.tuples(
    st.integers(0, CHANNELS - 1), st.booleans(), st.booleans(), st.integers(0, 1), st.integers(0, T_CYCLE - 1)
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(PROFILE, min_size=2 * CHANNELS, max_size=2 * CHANNELS),
    st.lists(st.tuples(X, st.lists(_SET, max_size=3)), min_size=3, max_size=12),
    st.integers(0, 60),
)
def test_random_servo_loops_agree_with_the_model(boot, profiles, samples, delay):
    """Random profiles, inputs, and settings at any moment of a cycle: every update of every
    synthesiser, the Ys and the clip flags agree with the model."""
    ps = boot(delay=delay)
    models = [ChannelModel({n: profiles[2 * i + n] for n in range(2)}) for i in range(CHANNELS)]
    models = deepcopy(models)
    for i, model in enumerate(models):
        for number, profile in model.profiles.items():
            ps.load(i, number, profile)
    enable = ps.now(3000)
    rise = enable + ENABLE_CYCLES
    events = sorted(
        {
            (rise + n * T_CYCLE + when, c): (out, iir, p)
            for n, (_, sets) in enumerate(samples)
            for c, out, iir, p, when in sets
        }.items()
    )
    ps.configure(enable, 1)
    for (time, channel), (out, iir, profile) in events:
        ps.set(channel, out, iir, profile, time)
    disable = rise + (len(samples) - 1) * T_CYCLE
    ps.configure(disable, 0)
    inputs = iter(x for x, _ in samples)
    ps.card.inputs = next(inputs)

    def following():
        if ps.out.sim_tsc > rise and (ps.out.sim_tsc - rise) % T_CYCLE == T_CYCLE - 1:
            ps.card.inputs = next(inputs, [0] * 8)

    ps.every_cycle = following
    ps.advance(disable + 600)
    assert [held for _, held in ps.card.samples] == [x for x, _ in samples]

    before = [0] * 8
    expected = []
    pending = list(events)
    for n, (x, _) in enumerate(samples):
        registers = []
        for i, model in enumerate(models):
            taken = rise + n * T_CYCLE + READ_CYCLES + 4 * i
            for event in [e for e in pending if e[0][1] == i and e[0][0] <= taken]:
                model.set(*event[1])
                pending.remove(event)
            registers.append(model.cycle(x, before))
        expected.append(registers)
        before = x
    for i, card in enumerate(ps.cards):
        found = [[r[REGISTER] for r in registers] for _, registers in card.updates]
        assert found == [registers[4 * i : 4 * i + 4] for registers in expected]
    for i, model in enumerate(models):
        for number, profile in model.profiles.items():
            assert ps.get(MAP.y(i, number)) == profile.y >> 7
    clip = sum(model.clip << i for i, model in enumerate(models))
    assert ps.get(MAP.config) == IDLE | clip << 8
    # The read has cleared them
    assert ps.get(MAP.config) == IDLE


@pytest.mark.parametrize("b", [pytest.param(-16, marks=pytest.mark.long), -48])
def test_integrator_step_response_has_the_predicted_time_constant(boot, b):
    """Power stabilisation: the input follows the amplitude. After a step of the set point the error
    decays with the time constant predicted by theory for the loop with its delay of three samples,
    to 1 %."""
    ps = boot()
    gain, target = 0.8, 0.5
    ps.load(0, 0, Profile(a1=2048, b0=b, b1=b, adc=6, offset=round(-gain * target * 2**17)))
    ps.set(0, 1, 1, 0)
    record = []

    def plant():
        register = ps.cards[0].registers[0].get(REGISTER, 0)
        level = (register >> 48) / 2**14
        ps.card.inputs[6] = round(gain * level * 2**15)
        if ps.cards[0].updates and len(record) < len(ps.cards[0].updates):
            record.append(level)

    ps.every_cycle = plant
    ps.put(MAP.config, 1)
    # y[n] = y[n - 1] + k (y[n - 3] + y[n - 4]) / 2 has its slow pole next to 1
    k = b / 2048 * gain
    z = 1.0
    for _ in range(200):
        z = 1 + k * (z**-2 + z**-3) / 2
    tau = -1 / math.log(z)
    ps.advance(ps.now(round((4 * tau + 10) * T_CYCLE)))
    errors = [1 - level / target for level in record]
    first = next(n for n, error in enumerate(errors) if error < 0.8)
    last = next(n for n, error in enumerate(errors) if error < 0.1)
    measured = (last - first) / math.log(errors[first] / errors[last])
    assert abs(measured / tau - 1) < 0.01
    assert abs(errors[-1]) < 0.03
    # Near the integrator's own, 1 / k samples of 1.168 us
    assert abs(tau * -k - 1) < 4 * -k


def test_missing_card_holds_outputs_until_it_is_back(boot):
    ps = boot()
    ps.load(0, 0, Profile(a1=2048, offset=1000, b0=2048, ftw=77, y=50 << 10))
    ps.set(0, 1, 1, 0)
    ps.card.connected = False
    ps.put(MAP.config, 1)
    ps.advance(ps.now(5 * T_CYCLE))
    assert ps.get(MAP.config) & 0xFF07 == ENABLED | FAILED
    assert ps.cards[0].registers[0][REGISTER] == 50 << 48 | 77
    ps.card.connected = True
    ps.advance(ps.now(T_CYCLE))
    ps.get(MAP.config)
    ps.advance(ps.now(3 * T_CYCLE))
    assert ps.get(MAP.config) & FAILED == 0
    assert ps.cards[0].registers[0][REGISTER] >> 48 > 50


def test_switch_channel_behaves_as_a_ttl(boot):
    ps = boot(skip=True)
    start = 8 * ps.now(400)
    for time, on in [(start + 3, 1), (start + 21, 0)]:
        assert ps.output(CHANNEL["suservo0_ch6"], time, on) == 0
    ps.advance(start // 8 + 100)
    assert edges(ps, "suservo0_ch6") == [(start + 3, 1), (start + 21, 0)]


def test_update_pulse_has_the_delay_of_its_card(boot):
    """Each card has its own delay; bit 1 of the configuration applies them. The pin's TTL channel
    remains usable."""
    ps = boot()
    ps.put(MAP.config, 2 | 3 << 2 | 6 << 5)
    ps.put(MAP.config, 1)
    ps.put(MAP.config, 0)
    ps.advance(ps.now(400))
    found = [edges(ps, f"ttl_urukul{i}_io_update") for i in range(2)]
    assert [time % 8 for pulses in found for time, _ in pulses] == [3] * len(found[0]) + [6] * len(found[1])
    assert [b - a for (a, _), (b, _) in zip(found[0][::2], found[0][1::2], strict=True)] == [16] * (len(found[0]) // 2)
    ps.changes.clear()
    start = 8 * ps.now()
    for time, level in [(start + 1, 1), (start + 9, 0)]:
        assert ps.output(CHANNEL["ttl_urukul1_io_update"], time, level) == 0
    ps.advance(start // 8 + 20)
    assert edges(ps, "ttl_urukul1_io_update") == [(start + 1, 1), (start + 9, 0)]


def test_time_is_skipped_only_while_the_servo_is_off(boot):
    ps = boot(skip=True)
    before = ps.cycle
    ps.advance(ps.now(1_000_000))
    assert ps.cycle - before < 1000
    enable = ps.now()
    ps.configure(enable, 1)
    ps.advance(enable)
    before = ps.cycle
    ps.advance(enable + 5000)
    assert ps.cycle - before == 5000
    ps.put(MAP.config, 0)
    ps.advance(ps.now(1000))
    before = ps.cycle
    ps.advance(ps.now(1_000_000))
    assert ps.cycle - before < 1000


_ACTION = st.one_of(
    st.tuples(st.just("write"), st.sampled_from([MAP.word(0, 0, "b0"), MAP.y(7, 31)]), st.integers(0, 2**18 - 1)),
    st.tuples(st.just("read"), st.sampled_from([MAP.word(0, 0, "b0"), MAP.y(7, 31), MAP.config, MAP.x(3)])),
    st.tuples(st.just("set"), st.integers(0, 7), st.booleans()),
    st.tuples(st.just("run"), st.integers(1, 500)),
    st.tuples(st.just("wait"), st.integers(1, 5000)),
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(st.lists(_ACTION, min_size=1, max_size=8))
def test_skipping_changes_no_pad_or_read(boot, actions):
    """Pads, read values, and the times of both are the same as without skipping."""
    results = []
    for skip in [False, True]:
        ps = boot(skip=skip)
        cursor, log = ps.now(500), []
        for action, *args in actions:
            if action == "write":
                rtio, data = MAP.event(args[0] | MAP.write, args[1])
                ps.output(CHANNEL["suservo0"], 8 * cursor, data, address=rtio)
            elif action == "read":
                rtio, data = MAP.event(args[0])
                ps.output(CHANNEL["suservo0"], 8 * cursor, data, address=rtio)
                log.append(ps.input(CHANNEL["suservo0"], -1))
                cursor = max(cursor, ps.now(500))
            elif action == "set":
                ps.set(args[0], args[1], False, 0, cursor)
            elif action == "run":
                ps.configure(cursor, 1)
                cursor += args[0]
                ps.configure(cursor, 0)
            else:
                ps.advance(cursor + args[0])
                cursor = ps.out.sim_tsc + 500
            log.append(ps.out.sim_tsc)
            cursor += 10
        ps.advance(cursor + 1000)
        results.append((log, ps.changes))
    assert results[0] == results[1]
