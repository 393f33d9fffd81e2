"""Fastino against a card in plain Python that uses only the pads: data, update, hold,
configuration, interpolator settings, groups; the frame of an event; time skip."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kairos_gateware.contracts.fastino import LANES
from kairos_gateware.pad import Pad
from kairos_gateware.phy.fastino import DACS, Fastino
from kairos_gateware.phy.fastino_card import FastinoCard
from kairos_gateware.testbenches.phy import play

FRAME = 49
UPDATE, HOLD, CONFIGURATION, LEDS, CONTINUOUS, STAGE, APPLY = 32, 33, 34, 35, 37, 38, 39


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
        self.hold = self.updates = self.continuous = self.configuration = self.leds = self.stage = self.applies = 0
        self.interpolators = [0] * DACS

    def frame(self, start):
        while self.events and self.events[0][0] < start:
            self._event(*self.events.pop(0)[1])
        if self.applies:
            self.interpolators = [self.stage if self.applies >> i & 1 else x for i, x in enumerate(self.interpolators)]
            self.applies = 0
            return None
        mask, self.updates = self.updates | self.continuous, 0
        self.outputs = [self.data[i] if mask >> i & 1 else x for i, x in enumerate(self.outputs)]
        return mask

    def _event(self, address, data):
        if address < DACS:
            first = address // self.width * self.width
            for i in range(self.width):
                self.data[first + i] = data >> 16 * i & 0xFFFF
                self.updates |= (~self.hold >> first + i & 1) << first + i
        elif address == UPDATE:
            self.updates |= data & 0xFFFFFFFF
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
        elif address == APPLY:
            self.applies |= data & 0xFFFFFFFF


_ADDRESS = st.one_of(st.integers(0, 31), st.sampled_from([UPDATE, HOLD, CONFIGURATION, LEDS, CONTINUOUS, STAGE, APPLY]))


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
    """Also the one after an interpolator setting, which has the updates that waited. Meanwhile,
    time is not skipped."""
    events = {150: (CONTINUOUS, 1), 300: (APPLY, 2), 301: (5, 99), 600: (LEDS, 3)}
    card, record = run(events, 15, simulated=True)
    assert card.log == [(196, 1), (392, 33), (637, 1)]
    assert (card.interpolators[1], card.outputs[5], card.leds) == (0, 99, 3)
    busy = [index + 1 for index, settled in enumerate(record.settled) if not settled]
    assert busy == [*range(150, 245), *range(300, 441), *range(600, 686)]


def test_probes_have_the_widths_of_the_outputs():
    dut = make()
    assert [len(probe) for probe in dut.probes] == [16] * DACS + [14]
