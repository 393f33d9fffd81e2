"""SU-Servo: words on its RTIO channels and to its synthesisers, as drivers and gateware have them."""

import pytest
from kairos_gateware.servo.dds import PROFILE_REGISTER
from kairos_gateware.servo.format import AddressMap
from kairos_gateware.servo.model import PhaseModel, Profile, filter_step
from kairos_gateware.servo.test_iir import Bench
from kairos_gateware.testbenches.simulator import run_simulation

from kairos.coredevice.tests.traffic import devices, run
from tests.support.vectors import GROUPS, vectors

SERVO = 100
MOST = 3
"""Urukuls."""


def entries(urukuls):
    cards = range(urukuls)
    return {
        "spi": ("spi2.SPIMaster", {"channel": 1}),
        **{f"cpld{i}": ("urukul.CPLD", {"spi_device": "spi", "refclk": 100e6, "clk_sel": 2}) for i in cards},
        **{f"dds{i}": ("suservo.SharedDDS", {"cpld_device": f"cpld{i}"}) for i in cards},
        "servo": ("suservo.SUServo", {
            "channel": SERVO, "pgia_device": "spi", "cpld_devices": [f"cpld{i}" for i in cards],
            "dds_devices": [f"dds{i}" for i in cards],
        }),
        "ch3": ("suservo.Channel", {"channel": SERVO - 4 * urukuls + 3, "servo_device": "servo"}),
    }  # fmt: skip


@pytest.fixture(scope="module")
def servos():
    return {n: devices(entries(n)).get for n in range(1, MOST + 1)}


def accessed(traffic):
    """Return the address of the only access to a servo."""
    ((_, _, low, data),) = traffic.outputs
    return f"{data >> 18 << 8 | low:05x}"


@vectors("suservo_addresses")
def test_addresses_of_driver_and_gateware_are_those_of_the_servo(servos, vector):
    get, gateware = servos[vector["urukuls"]], AddressMap(vector["urukuls"])
    servo, channel = get("servo"), get("ch3")
    for name, of_driver, of_gateware in [
        ("we", servo.we, gateware.write),
        ("phase_sel", servo.phase_sel, gateware.phase),
        ("state_sel", servo.state_sel, gateware.state),
        ("config", servo.config_addr, gateware.config),
    ]:
        assert f"{of_driver:05x}" == f"{of_gateware:05x}" == vector[name]
    for name, traffic, of_gateware in [
        ("x0_of_adc0", run(servo.get_adc_mu, 0, data=[0]), gateware.x(0)),
        ("x0_of_adc7", run(servo.get_adc_mu, 7, data=[0]), gateware.x(7)),
        ("y_of_ch3_prof5", run(channel.get_y_mu, 5, data=[0]), gateware.y(3, 5)),
    ]:
        assert accessed(traffic) == f"{of_gateware:05x}" == vector[name]
    assert f"{gateware.word(3, 5, 'b0'):05x}" == vector["b0_of_ch3_prof5"]
    assert f"{gateware.reference_time(3, 5):05x}" == vector["ref_lo_ch3_prof5"]
    assert f"{gateware.tracked_phase(3):05x}" == vector["accu_lo_ch3"]
    assert f"{gateware.tracked_ftw(3):05x}" == vector["ftw_lo_ch3"]


@vectors("suservo_iir")
def test_filter_of_model_and_gateware_follows_the_servo(vector):
    """Samples of one channel of the ADC from a Y of 0: Y, amplitude and clipping after each."""
    coefficients = {name: vector[name] for name in ("a1", "b0", "b1", "offset")}
    samples = list(zip(vector["adc"], [0, *vector["adc"]], strict=False))
    y, found = 0, []
    for x0, x1 in samples:
        y, clip = filter_step(y, x0, x1, **coefficients)
        found.append((f"{y:06x}", f"{y >> 10:04x}", int(clip)))
    expected = list(zip(vector["y"], vector["asf"], vector["clip"], strict=True))
    assert found == expected

    bench, simulated = Bench(4), []

    def play():
        yield from bench.load(1, 7, Profile(adc=3, **coefficients))
        yield bench.controls[1].profile.eq(7)
        yield bench.controls[1].active.eq(1)
        for x0, x1 in samples:
            bench.clip[1] = False
            registers = yield from bench.cycle([0, 0, 0, x0, 0, 0, 0, 0], [0, 0, 0, x1, 0, 0, 0, 0])
            y = yield from bench.read_y(1, 7)
            simulated.append((f"{y:06x}", f"{registers[1] >> 48:04x}", int(bench.clip[1])))

    run_simulation(bench.dut, play())
    assert simulated == expected


@vectors("suservo_rtio")
def test_memory_writes_are_the_words_of_the_servo(servos, vector):
    servo = servos[vector["urukuls"]]("servo")
    address = int(vector["internal"], 16)
    ((_, channel, low, data),) = run(servo.write, address & ~servo.we, vector["value"]).outputs
    assert (channel, f"{low:02x}", f"{data:08x}") == (SERVO, vector["rtio_address"], vector["rtio_data"])
    low, data = AddressMap(vector["urukuls"]).event(address, vector["value"])
    assert (f"{low:02x}", f"{data:08x}") == (vector["rtio_address"], vector["rtio_data"])


@vectors("suservo_dds_word")
def test_profile_register_is_sent_as_one_word(vector):
    profile = Profile(ftw=vector["ftw"], pow=vector["pow"], y=vector["asf"] << 10)
    assert f"{PROFILE_REGISTER + 7:02x}{profile.register():016x}" == vector["word"]


TRACKED = [
    Profile(ftw=0x028F5C29, pow=0x8000, reference=0x1234),
    Profile(ftw=0x00ADBEEF, pow=0x4321, reference=0x4321),
    Profile(ftw=0xC0000001, pow=0x0001, reference=0xFFFFFFF0),
]
"""Profiles of the vectors of phase tracking."""


@pytest.fixture(scope="module")
def tracked():
    """Phase words of model and gateware in the servo's cycles, one after the other."""
    group, model, bench = GROUPS["suservo_phase_tracking"], PhaseModel(), Bench(4)
    by_model = [model.step(TRACKED[each["profile"]], each["t_process"], True) for each in group]
    by_gateware = []

    def play():
        for number, profile in enumerate(TRACKED):
            yield from bench.load(2, number, profile)
            yield from bench.load_reference(2, number, profile.reference)
        yield bench.controls[2].tracks.eq(1)
        for each in group:
            yield bench.controls[2].profile.eq(each["profile"])
            yield bench.dut.tracker.time.eq(each["t_process"])
            registers = yield from bench.cycle([0] * 8, [0] * 8)
            by_gateware.append(registers[2] >> 32 & 0xFFFF)

    run_simulation(bench.dut, play())
    return by_model, by_gateware


@vectors("suservo_phase_tracking")
def test_tracked_phases_of_model_and_gateware_are_those_of_the_servo(tracked, vector):
    assert f"{TRACKED[vector['profile']].ftw:08x}" == vector["ftw"]
    assert [f"{words[vector['update']]:04x}" for words in tracked] == 2 * [vector["pow_sent"]]


def test_reference_times_are_written_in_halves_or_copied(servos):
    servo, channel = servos[2]("servo"), servos[2]("ch3")
    gateware = AddressMap(2)
    place = gateware.reference_time(3, 5)
    written = [gateware.event(place + half | gateware.write, value) for half, value in ((0, 0x5678), (1, 0x1234))]
    traffic = run(channel.set_reference_time, 5, 0x12345678)
    assert [(address, data) for _, _, address, data in traffic.outputs] == written and traffic.now == 16
    traffic = run(channel.copy_reference_time, 5)
    assert [(address, data) for _, _, address, data in traffic.outputs] == [
        gateware.event(place | gateware.state | gateware.write)
    ]
    for method, args, first in [
        (channel.get_reference_time, (5,), place),
        (channel.get_tracked_phase_accumulator, (), gateware.tracked_phase(3)),
        (channel.get_tracked_ftw, (), gateware.tracked_ftw(3)),
    ]:
        traffic = run(method, *args, data=[0xFFFF9ABC, 0x1234])
        assert traffic.value == 0x12349ABC
        assert [accessed_at(servo, each) for each in traffic.outputs] == [first, first + 1]
    for method, first in [
        (channel.clear_tracked_phase_accumulator, gateware.tracked_phase(3)),
        (channel.clear_tracked_ftw, gateware.tracked_ftw(3)),
    ]:
        expected = [gateware.event(first + half | gateware.write) for half in (0, 1)]
        assert [(address, data) for _, _, address, data in run(method).outputs] == expected


def accessed_at(servo, output):
    """Return the address of an access to a servo."""
    _, number, low, data = output
    assert number == servo.channel
    return data >> 18 << 8 | low
