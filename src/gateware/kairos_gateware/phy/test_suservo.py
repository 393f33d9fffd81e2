"""The RTIO channels of a servo with one Urukul: memories, status, delays; a whole loop in Migen's
simulator."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.suservo import SuServo, SuServoChannel
from kairos_gateware.servo.format import T_CYCLE, AddressMap
from kairos_gateware.servo.model import ChannelModel, Profile
from kairos_gateware.servo.servo import latency
from kairos_gateware.testbenches.phy import play
from kairos_gateware.testbenches.servo import SamplerModel, UrukulModel
from kairos_gateware.testbenches.simulator import run_simulation

MAP = AddressMap(1)
CHANNELS = 4
REGISTER = 0x0E + 7


def make():
    """(servo, channels, module with all of them)."""
    channels = [SuServoChannel(i, Pad(f"sw{i}", "out", i, True)) for i in range(CHANNELS)]
    adc = [Pad(name, "out", 4) for name in ["cnv", "sck", "sdr"]]
    adc += [Pad(name, "in", 4, True) for name in ["clkout", "sdo0", "sdo1", "sdo2", "sdo3"]]
    bus = [Pad(name, "out", 4) for name in ["clk", "cs", "mosi0", "mosi1", "mosi2", "mosi3"]]
    servo = SuServo(CHANNELS, channels, adc, [bus], [Pad("io_update", "out", 4, True)], 7)
    top = Module()
    top.submodules += servo, *channels
    return servo, channels, top


def write(address, value):
    rtio, data = MAP.event(address | MAP.write, value)
    return rtio, data, 0


def read(address):
    rtio, data = MAP.event(address)
    return rtio, data, 0


def test_address_map_equals_that_of_the_driver():
    """As the driver computes them (coredevice drivers, section 15)."""
    for urukuls, depth in [(1, 10), (2, 11), (3, 12)]:
        addresses = AddressMap(urukuls)
        assert addresses.write == 1 << depth + 2
        assert addresses.phase == 1 << depth + 1
        assert addresses.state == 1 << depth
        assert addresses.config == 1 << depth | 1 << depth - 1
        last = addresses.word(addresses.channels - 1, 31, "b0")
        assert last == addresses.channels * 256 - 1 < 2**depth
    assert MAP.word(3, 17, "offset") == (3 << 5 | 17) << 3 | 4
    assert MAP.event(0x1234, 0x2ABCD) == (0x34, 0x12 << 18 | 0x2ABCD)


def test_memory_accesses_are_accepted_every_cycle():
    """Writes and reads in successive cycles; a read directly after the write of the same word
    returns it. The input event has the time of its read."""
    servo, _, top = make()
    places = [MAP.word(3, 31, "b0"), MAP.y(3, 31), MAP.word(0, 0, "pow"), MAP.y(0, 0)]
    values = [0x2DEAD, 0x1BEEF, 0x3FFFF, 0x00001]
    events = {}
    for n, (place, value) in enumerate(zip(places, values, strict=True)):
        events[10 + 2 * n] = write(place, value)
        events[11 + 2 * n] = read(place)
    events |= {20 + n: read(place) for n, place in enumerate(places)}
    record = play(servo, events, 40, dut=top)
    signed = [value | 0xFFFC0000 * (value >> 17) for value in values]
    expected = [(11 + 2 * n, 0, value) for n, value in enumerate(signed)]
    assert record.inputs == expected + [(20 + n, 0, value) for n, value in enumerate(signed)]
    assert not record.busy
    unsettled = [cycle for cycle, settled in enumerate(record.settled) if not settled]
    assert unsettled[0] == 10 and unsettled[-1] == 25


def test_halves_of_phase_tracking_are_written_and_read():
    """Those of reference times, frequency words and phases; the upper bits of what is read are bit 15."""
    servo, _, top = make()
    places = [MAP.reference_time(3, 31), MAP.reference_time(0, 0), MAP.tracked_ftw(2), MAP.tracked_phase(3)]
    halves = [
        (place + half, 0x1111 * (2 * n + half + 1) | 0x8000 * half) for n, place in enumerate(places) for half in (0, 1)
    ]
    events = {10 + n: write(place, value) for n, (place, value) in enumerate(halves)}
    events |= {20 + n: read(place) for n, (place, _) in enumerate(halves)}
    record = play(servo, events, 40, dut=top)
    signed = [value - (value >> 15 << 16) & 0xFFFFFFFF for _, value in halves]
    assert record.inputs == [(20 + n, 0, value) for n, value in enumerate(signed)] and not record.busy


def test_reference_time_is_copied_with_the_fine_time_of_its_event():
    servo, _, top = make()
    both = MAP.reference_time(1, 2) | MAP.state
    rtio, data = MAP.event(both | MAP.write)
    events = {10: (rtio, data, 5), 12: read(MAP.reference_time(1, 2)), 13: read(MAP.reference_time(1, 2) + 1)}
    events |= {20: write(MAP.config, 1), 100: (rtio, data, 3), 102: read(MAP.reference_time(1, 2))}
    record = play(servo, events, 120, dut=top)
    still, upper, running = [value for _, _, value in record.inputs]
    assert (still, upper) == (5, 0), "the time is 0 while nothing is in progress"
    assert running & 7 == 3 and running >> 3 in range(75, 82)


SETTING = st.tuples(st.booleans(), st.booleans(), st.sampled_from([0, 7, 31]))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(SETTING, st.just("taken")), max_size=40))
def test_control_signals_of_a_channel_follow_the_model(actions):
    """The filter's inputs from a channel, and for how many cycles, agree with the model."""
    channel = SuServoChannel(0, Pad("sw", "out", 0, True))
    link, control, model = channel.channel.output, channel.control, ChannelModel()

    def bench():
        for action in actions:
            yield control.taken.eq(action == "taken")
            yield link.stb.eq(action != "taken")
            if action == "taken":
                model.cycle([0] * 8, [0] * 8)
            else:
                out, iir, profile = action
                yield link.data.eq(out | iir << 1 | profile << 3)
                model.set(*action)
            yield
            yield link.stb.eq(0)
            yield control.taken.eq(0)
            yield
            assert (yield control.active) == (model.out and model.iir)
            assert (yield control.profile) == model.profile
            assert (yield control.waited) == model.waited

    run_simulation(channel, bench())


def test_waiting_counter_saturates_at_its_maximum():
    channel = SuServoChannel(0, Pad("sw", "out", 0, True))

    def bench():
        yield channel.channel.output.data.eq(1)
        yield channel.channel.output.stb.eq(1)
        yield
        yield channel.channel.output.stb.eq(0)
        yield channel.control.taken.eq(1)
        for _ in range(300):
            yield
        assert (yield channel.control.waited) == 255

    run_simulation(channel, bench())


def test_servo_loop_of_one_urukul_updates_after_305_cycles():
    """Two channels through four samples: from the falling edge of CNV to the update takes 305
    cycles with one Urukul."""
    servo, channels, top = make()
    card, chips = SamplerModel(31), UrukulModel()
    models = [
        ChannelModel({0: Profile(ftw=0x12345678, pow=0x9ABC, a1=1024, b0=3000, b1=-200, adc=2, offset=777)}),
        ChannelModel({9: Profile(ftw=0xFEDCBA98, a1=2048, b0=-500, adc=7, offset=-65536, dly=2, y=60000 << 7)}),
    ]
    samples = [[1000 * n + 100 * i for i in range(8)] for n in range(1, 5)]
    writes = [
        write(address, value)
        for i, model in enumerate(models)
        for number, profile in model.profiles.items()
        for address, value in [
            *((MAP.word(i, number, name), value) for name, value in profile.words().items()),
            (MAP.y(i, number), profile.y >> 7),
        ]
    ]
    writes.append(write(MAP.config, 1))
    before, expected = [0] * 8, []
    for i, number in enumerate([0, 9]):
        models[i].set(True, True, number)
    for x in samples:
        expected.append([model.cycle(x, before) for model in models])
        before = x

    def bench():
        for i, number in enumerate([0, 9]):
            yield channels[i].channel.output.data.eq(0b11 | number << 3)
            yield channels[i].channel.output.stb.eq(1)
        for cycle in range(len(writes) + 3 * T_CYCLE + latency(CHANNELS) + 10):
            event = writes[cycle] if cycle < len(writes) else None
            # Off while the fourth sample is read
            if cycle == len(writes) + 3 * T_CYCLE + 20:
                event = write(MAP.config, 0)
            yield servo.channel.output.stb.eq(event is not None)
            if event:
                yield servo.channel.output.address.eq(event[0])
                yield servo.channel.output.data.eq(event[1])
            card.inputs = samples[min(len(card.samples), 3)]
            levels = []
            for pad in servo.pads:
                levels.append((yield pad.o))
            clkout, lanes = card.step(levels[0] & 1, levels[1] & 1)
            for pad, value in zip(servo.pads[3:8], [clkout, *lanes], strict=True):
                yield pad.i.eq(value)
            chips.step(levels[8] & 1, levels[9] & 1, [level & 1 for level in levels[10:14]], levels[14])
            yield
            for channel in channels:
                yield channel.channel.output.stb.eq(0)

    run_simulation(top, bench())
    assert [held for _, held in card.samples] == samples
    found = [[r[REGISTER] for r in registers[:2]] for _, registers in chips.updates]
    assert found == expected
    times = [time / 8 - fall for (time, _), (fall, _) in zip(chips.updates, card.samples, strict=True)]
    assert times == [latency(CHANNELS)] * 4 == [305] * 4
