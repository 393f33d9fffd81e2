"""SU-Servo: events on its channels, and messages to its Urukuls."""

import pytest
from kairos_gateware.servo.format import AddressMap

from kairos.coredevice.suservo import T_CYCLE, adc_mu_to_volts, y_mu_to_full_scale

from .traffic import KernelError, devices, run

SPI, PGIA, SERVO = 20, 21, 8
WE = 1 << 13
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "pgia": ("spi2.SPIMaster", {"channel": PGIA}),
    "cpld0": ("urukul.CPLD", {"spi_device": "spi", "refclk": 100e6, "clk_sel": 2}),
    "cpld1": ("urukul.CPLD", {"spi_device": "spi", "refclk": 100e6, "proto_rev": 8}),
    "dds0": ("suservo.SharedDDS", {"cpld_device": "cpld0", "sync_delay_seeds": [-1, -1, 9, -1]}),
    "dds1": ("suservo.SharedDDS", {"cpld_device": "cpld1", "io_update_delay": 5}),
    "servo": ("suservo.SUServo", {
        "channel": SERVO, "pgia_device": "pgia", "cpld_devices": ["cpld0", "cpld1"], "dds_devices": ["dds0", "dds1"],
    }),
    "one": ("suservo.SUServo", {
        "channel": 4, "pgia_device": "pgia", "cpld_devices": ["cpld0"], "dds_devices": ["dds0"], "gains": 0b1100,
    }),
    "ch5": ("suservo.Channel", {"channel": 5, "servo_device": "servo"}),
    "one3": ("suservo.Channel", {"channel": 3, "servo_device": "one"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


def accesses(traffic, channel=SERVO):
    """Return (address, value) of all accesses to the servo, 8 machine units apart."""
    events = [(address, data) for _, number, address, data in traffic.outputs if number == channel]
    return [(address | data >> 18 << 8, data & 0x3FFFF) for address, data in events]


def test_memory_is_written_and_read(get):
    servo = get("servo")
    traffic = run(servo.write, 0x12A5, 0x7FFFF)
    assert traffic.outputs == [(0, SERVO, 0xA5, 0x32 << 18 | 0x3FFFF)] and traffic.now == 8
    traffic = run(servo.read, 0x12A5, data=[1234])
    assert traffic.outputs == [(0, SERVO, 0xA5, 0x12 << 18)] and (traffic.value, traffic.now) == (1234, 8)
    assert (servo.we, servo.phase_sel, servo.state_sel, servo.config_addr) == (1 << 13, 1 << 12, 1 << 11, 3 << 10)
    assert (get("one").we, get("one").config_addr) == (1 << 12, 3 << 9)
    assert T_CYCLE == pytest.approx(1.168e-6)


@pytest.mark.parametrize("name, urukuls, channel", [("servo", 2, "ch5"), ("one", 1, "one3")])
def test_servo_addresses_match_the_gateware(get, name, urukuls, channel):
    theirs, servo, channel = AddressMap(urukuls), get(name), get(channel)
    ours = (servo.we, servo.phase_sel, servo.state_sel, servo.config_addr, servo.num_channels)
    assert ours == (theirs.write, theirs.phase, theirs.state, theirs.config, theirs.channels)
    place = channel.servo_channel, 21
    assert accesses(run(channel.set_dds_offset_mu, 21, 5), servo.channel) == [
        (theirs.write | theirs.word(*place, "offset"), 5)
    ]
    assert accesses(run(channel.get_y_mu, 21, data=[0]), servo.channel) == [(theirs.y(*place), 0)]
    assert accesses(run(servo.get_adc_mu, 6, data=[0]), servo.channel) == [(theirs.x(6), 0)]


def test_configuration_and_status_are_accessed(get):
    servo = get("servo")
    config = 3 << 10
    assert accesses(run(servo.set_config, 1)) == [(WE | config, 1)]
    assert accesses(run(servo.set_config, 0, True, [5, 3])) == [(WE | config, 2 | 5 << 2 | 3 << 5)]
    traffic = run(servo.get_status, data=[0x0203])
    assert accesses(traffic) == [(config, 0)] and traffic.value == 0x203


def test_adc_is_read_and_gain_set(get):
    servo, one = get("servo"), get("one")
    traffic = run(servo.get_adc_mu, 3, data=[0x2AAAA])
    assert accesses(traffic) == [(1 << 11 | 1 << 8 | 3 << 1, 0)] and traffic.value == 0x2AAAA
    assert accesses(run(one.get_adc_mu, 3, data=[0]), one.channel) == [(1 << 10 | 1 << 7 | 3 << 1, 0)]
    traffic = run(one.get_adc, 1, data=[0x10000])
    assert traffic.value == pytest.approx(0x8000 * -20.48 / 65536 / 1000)
    assert adc_mu_to_volts(0x4000, 1) == pytest.approx(0x2000 * 20.48 / 65536 / 10)
    traffic = run(servo.set_pgia_mu, 2, 3)
    assert traffic.on(PGIA) == [(0, 3 << 4 << 16)] and traffic.now == ((16 + 1) * 4 + 1) * 8


def test_servo_profile_words_are_written_in_order(get):
    channel, first = get("ch5"), (5 << 5 | 17) << 3
    traffic = run(channel.set_dds_mu, 17, 0x8765_4321 - (1 << 32), -2, 0xABCD)
    assert accesses(traffic) == [
        (WE | first + word, value) for word, value in [(6, 0x8765), (2, 0x4321), (4, 0x3FFFE), (0, 0xABCD)]
    ]
    assert traffic.now == 32
    ftw = round(80e6 * 2**32 / 1e9)
    traffic = run(channel.set_dds, 17, 80e6, -0.5, 0.25)
    assert [value for _, value in accesses(traffic)] == [ftw >> 16, ftw & 0xFFFF, 0x30000, 0x4000]
    assert accesses(run(channel.set_dds_offset_mu, 0, 7)) == [(WE | 5 << 8 | 4, 7)]
    assert accesses(run(channel.set_dds_offset, 0, 0.25)) == [(WE | 5 << 8 | 4, 1 << 15)]
    traffic = run(channel.set_iir_mu, 17, 6, -1, 2, -3, 200)
    words = [(3, 6 | 200 << 8), (1, 0x3FFFD), (5, 0x3FFFF), (7, 2)]
    assert accesses(traffic) == [(WE | first + word, value) for word, value in words]
    assert accesses(run(get("one3").set_dds_offset_mu, 0, 7), 4) == [(1 << 12 | 3 << 8 | 4, 7)]


def test_filter_coefficients_follow_gains_or_are_refused(get):
    channel = get("ch5")

    def words(*args):
        place = {address & 7: value for address, value in accesses(run(channel.set_iir, 1, *args))}
        return [value - (value >> 17 << 18) for value in (place[5], place[7], place[1])], place[3]

    assert words(2, -0.5) == ([0, -2048, 0], 2)
    half = 1.168e-6 / 2
    assert words(2, 0.0, -1e5) == ([2048] + [round(-1e5 * half * 4096)] * 2, 2)
    # The limited integrator has the gain g at zero frequency, and kp at half the sample rate
    (a1, b0, b1), delay = words(3, -2.0, -1e6, -50.0, 100 * 1.168e-6)
    assert (b0 + b1) / 2 / (2048 - a1) == pytest.approx(-2 - 50, rel=0.03)
    assert (b0 - b1) / 2 / (2048 + a1) == pytest.approx(-2, rel=0.01)
    assert delay == 3 | 100 << 8
    for gains, text in [
        ((0.0, 1.0), "low integrator gain and/or gain limit"),
        ((40.0,), "high gains"),
        ((1.0, 0.0, 0.0, 300e-6), "the delay of an SU-Servo is at most 255 of its cycles"),
    ]:
        with pytest.raises(KernelError, match=f"ValueError: {text}"):
            words(0, *gains)


def test_servo_channel_is_switched_and_read_back(get):
    channel = get("ch5")
    assert run(channel.set, 1, 1, 0, 19).outputs == [(0, 5, 0, 0b11 | 19 << 3)]
    assert run(channel.set, True).outputs == [(0, 5, 0, 1)]
    assert run(channel.set, 0).outputs == [(0, 5, 0, 0)] and run(channel.set, 1, 0, 1).outputs == [(0, 5, 0, 5)]
    traffic = run(channel.set_y, 3, 0.5)
    assert accesses(traffic) == [(WE | 1 << 11 | 5 << 5 | 3, 65536)] and traffic.value == 65536
    assert accesses(run(channel.set_y_mu, 3, 9)) == [(WE | 1 << 11 | 5 << 5 | 3, 9)]
    traffic = run(channel.get_y, 3, data=[131071])
    assert accesses(traffic) == [(1 << 11 | 5 << 5 | 3, 0)] and traffic.value == 1.0
    assert run(channel.get_y_mu, 3, data=[77]).value == 77 and y_mu_to_full_scale(131071) == 1.0
    data = [0] * 8
    traffic = run(channel.get_profile_mu, 17, data, data=range(8))
    assert accesses(traffic) == [((5 << 5 | 17) << 3 | word, 0) for word in range(8)] and traffic.now == 8 * 4008
    with pytest.raises(KernelError, match="ValueError: Invalid SUServo y-value!"):
        run(channel.set_y, 3, 1.1)
    with pytest.raises(Exception, match="RTIO channel 12 does not belong to the SU-Servo on channel 8"):
        devices(ENTRIES | {"x": ("suservo.Channel", {"channel": 12, "servo_device": "servo"})}).get("x")


LOCKED = 0xF << 8 | 9 << 16


def test_servo_init_configures_amplifiers_and_cards(get):
    """The servo stops, the amplifiers' bus is configured, each card of revision 9 is checked, one
    of revision 8 is not."""
    traffic = run(get("servo").init, data=[LOCKED, *([0x7F7F, LOCKED] * 4)])
    assert traffic.outputs[0] == (0, SERVO, 0, (WE | 3 << 10) >> 8 << 18)
    assert traffic.on(PGIA) == [(1, 1 << 24 | 2 << 16 | 15 << 8 | 2)]
    # Last, the delays of the update pulses: none, and 5
    assert accesses(traffic)[-1] == (WE | 3 << 10, 2 | 5 << 5)
    assert traffic.outputs[1][0] == 3008
    first = [word for word in traffic.words(SPI) if word[0] == 1]
    cards = {
        9: [word[4] for word in first if word[1] == 28],
        8: [word[4] for word in first if word[2] == 2 and word[1] == 24 and word[3]],
    }
    assert cards[9][-1] == get("cpld0").cfg_reg & 0xFFFFFFF and cards[8][-1] == get("cpld1").cfg_reg
    # All data go to the chip select of all chips; on the first card each chip was selected
    # individually
    assert {word[0] for word in traffic.words(SPI)} == {1, 3}


def test_servo_synthesisers_are_initialised(get):
    dds = get("dds0")
    traffic = run(dds.update_dds_sel, 2)
    assert traffic.words(SPI)[0][4] == (get("cpld0").cfg_reg | 1 << 38) >> 28
    traffic = run(dds.init, data=[0x7F7F, LOCKED] * 4)
    words = traffic.words(SPI)
    masks = [word[4] >> 8 & 0xF for word in words if word[0] == 1 and not word[3]]
    changes = [mask for place, mask in enumerate(masks) if not place or mask != masks[place - 1]]
    assert changes == [1, 2, 4, 8, 4, 0]
    # Updates by the configuration, and the delay of channel 2
    assert [word[4] >> 4 & 0xF for word in words if word[0] == 1 and not word[3]].count(0xF) == 4 * 4 + 2
    registers = [(words[n][4], words[n + 1][4]) for n, word in enumerate(words) if word[:2] == (3, 8)]
    assert (0x0A, 1 << 27 | 9 << 3) in registers
    assert dds.frequency_to_ftw(250e6) == 1 << 30 and dds.turns_to_pow(0.5) == 0x8000
    with pytest.raises(Exception, match="are 4 numbers, not 1"):
        devices(ENTRIES | {"x": ("suservo.SharedDDS", {"cpld_device": "cpld0", "sync_delay_seeds": [1]})}).get("x")


@pytest.mark.parametrize("seeds, update", [("eeprom:64", 3), ([1, 2, 3, 4], "eeprom:64"), ("eeprom:64", "eeprom:68")])
def test_calibration_in_two_places_is_refused(seeds, update):
    arguments = {"cpld_device": "cpld0", "sync_delay_seeds": seeds, "io_update_delay": update}
    with pytest.raises(Exception, match="When using EEPROM, sync_delay_seeds must be equal to io_update_delay"):
        devices(ENTRIES | {"x": ("suservo.SharedDDS", arguments)}).get("x")
