"""Fastino against a card in plain Python that uses only the pads: data, update, hold,
configuration, interpolator settings, groups; the frame of an event; time skip."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kairos_gateware.contracts.fastino import LANES
from kairos_gateware.pad import Pad
from kairos_gateware.phy.fastino import DACS, Fastino
from kairos_gateware.phy.fastino_card import FastinoCard
from kairos_gateware.testbenches.phy import play
from kairos_gateware.testbenches.simulator import run_simulation

FRAME = 49
UPDATE, HOLD, CONFIGURATION, LEDS, RESERVED, CONTINUOUS, STAGE, APPLY = range(32, 40)


def make(log2_width=0):
    lanes = [Pad(f"mosi{i}", "out", 0, True) for i in range(LANES)]
    return Fastino(0, Pad("clk", "out", 0, True), lanes, Pad("miso", "in", 0), log2_width)


def run(events, frames, log2_width=0, simulated=False):
    """events: {cycle: (address, data)}. Returns the card and the record; cycle n of the record is
    index n - 1."""
    dut = make(log2_width)
    if simulated:
        dut.comb += dut.channel.free_running.simulated.eq(1)
    # `play` numbers the cycle n + 1 as n, since it begins with a clock edge
    record = play(dut, {c - 1: (address, data, 0) for c, (address, data) in events.items()}, FRAME * frames + 1)
    card = FastinoCard()
    pads = list(zip(*record.outputs[: 1 + LANES], strict=True))
    # The first cycle of the first frame is missing here, so a card does not find it
    for index in range(FRAME - 1, len(pads)):
        card.feed(index + 1, [samples for samples, _ in pads[index]])
    return card, record


class Model:
    """The card's outputs after a frame that began at `start`, according to the page."""

    def __init__(self, events, width):
        self.events, self.width = sorted(events.items()), width
        self.data, self.outputs = [0] * DACS, [0] * DACS
        self.hold = self.mask = self.continuous = self.configuration = self.leds = self.stage = 0
        self.applies = False
        self.interpolators = [0] * DACS

    def frame(self, start):
        while self.events and self.events[0][0] < start:
            self._event(*self.events.pop(0)[1])
        applies, mask = self.applies, self.mask
        self.applies, self.mask = False, self.continuous
        target, words = (self.interpolators, [self.stage] * DACS) if applies else (self.outputs, self.data)
        target[:] = [words[i] if mask >> i & 1 else x for i, x in enumerate(target)]
        return None if applies else mask

    def _event(self, address, data):
        if address < DACS:
            first = address // self.width * self.width
            for i in range(self.width):
                self.data[first + i] = data >> 16 * i & 0xFFFF
                if not self.applies:
                    self.mask |= (~self.hold >> first + i & 1) << first + i
        elif address in (UPDATE, APPLY):
            self.mask, self.applies = data & 0xFFFFFFFF, address == APPLY
        elif address == HOLD:
            self.hold = data & 0xFFFFFFFF
        elif address == CONFIGURATION:
            self.configuration = data & 0xF
        elif address == LEDS:
            self.leds = data & 0xFF
        elif address == CONTINUOUS:
            self.continuous = data & 0xFFFFFFFF
        elif address == STAGE:
            self.stage = data & 0xFFFF


_ADDRESS = st.one_of(st.integers(0, 31), st.sampled_from(range(UPDATE, APPLY + 1)))


@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from([0, 1, 3, 5]),
    st.lists(st.tuples(st.integers(1, 30), _ADDRESS, st.integers(0, 2**512 - 1)), max_size=15),
)
def test_card_applies_events_frame_by_frame(log2_width, stream):
    events, cycle = {}, FRAME
    for distance, address, data in stream:
        cycle += distance
        events[cycle] = (address, data % 2 ** max(32, 16 << log2_width))
    frames = cycle // FRAME + 4
    card, _ = run(events, frames, log2_width)
    model = Model(events, 1 << log2_width)
    log = [(start, model.frame(start)) for start in range(FRAME, FRAME * frames, FRAME)]
    assert card.log == [entry for entry in log if entry[1] is not None]
    for name in ["outputs", "interpolators", "configuration", "leds"]:
        assert getattr(card, name) == getattr(model, name), name


def test_event_is_sent_in_the_next_frame():
    """An event is in the first frame that begins after it, which has been sent 50 to 98 cycles
    after it."""
    for cycle, frame in [(2 * FRAME - 1, 2 * FRAME), (2 * FRAME, 3 * FRAME), (3 * FRAME - 1, 3 * FRAME)]:
        card, _ = run({cycle: (7, 0x1234)}, 5)
        assert (frame, 1 << 7) in card.log and card.outputs[7] == 0x1234
        assert 50 <= frame + FRAME - cycle <= 98


def test_events_in_every_cycle_are_all_accepted():
    card, record = run({2 * FRAME + i: (i, 1000 + i) for i in range(DACS)}, 5)
    assert card.log[2] == (3 * FRAME, 2**32 - 1) and card.outputs == [1000 + i for i in range(DACS)]
    assert not record.busy


def test_simulation_shows_only_changed_frames():
    """Meanwhile, and until the card's answer to the last of them is there, time is not skipped."""
    events = {150: (CONTINUOUS, 1), 300: (APPLY, 2), 301: (5, 99), 600: (LEDS, 3)}
    card, record = run(events, 15, simulated=True)
    assert card.log == [(196, 0), (637, 1)]
    assert (card.interpolators[1], card.outputs[5], card.leds) == (0, 0, 3)
    assert [fields["answer"] for fields in card.fields] == [3, 6, 12], "the number of the frame"
    busy = [index + 1 for index, settled in enumerate(record.settled) if not settled]
    assert busy == [*range(150, 295), *range(300, 442), *range(600, 736)]


def test_answer_registers_are_read_as_events():
    """The card answers each frame with the number it asks for."""
    dut, found = make(), {}
    link, inputs, back = dut.channel.output, dut.channel.input, dut.pads[-1]

    def bench():
        for cycle in range(FRAME * 22):
            begun, place = divmod(cycle, FRAME)
            # Frame n is sent in length n + 1, and answered in the next one: 14 bits, the first one highest
            answer = (begun - 2) % 16 * 0x111
            yield back.i.eq(255 * (answer >> 13 - (place + 1) * 2 // 7 % 14 & 1))
            reads = cycle - FRAME * 21
            yield link.stb.eq(0 <= reads < 16)
            yield link.address.eq(0x80 | reads & 15)
            yield
            if (yield inputs.stb):
                found[reads - 2] = yield inputs.data

    run_simulation(dut, bench())
    assert found == {n: 0x111 * n for n in range(16)}


def test_probes_have_the_widths_of_the_outputs():
    dut = make()
    assert [len(probe) for probe in dut.probes] == [16] * DACS + [14]
