"""SU-Servo: words on its RTIO channels and to its synthesisers, as drivers and gateware have them."""

import pytest
from kairos_gateware.servo.dds import PROFILE_REGISTER
from kairos_gateware.servo.format import AddressMap
from kairos_gateware.servo.model import Profile, filter_step
from kairos_gateware.servo.test_iir import Bench
from kairos_gateware.testbenches.simulator import run_simulation

from kairos.coredevice.tests.traffic import devices, run
from tests.support.vectors import vectors

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
