"""Messages are recovered from the pads of a bus for every idle level and sampling edge of its
clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos.coredevice.chips import ad53xx, ad9834, ad9910, ad9912, adf5356, mirny, songbird
from kairos.coredevice.novogorny import adc_ctrl
from kairos.scope.serial import Labels, Message, Messages
from kairos.waveform import Channel

HALF = 40
"""Half a period of the clock, ns."""


class Bus:
    """Pads, driven as by a master."""

    def __init__(self, idle, late, active_low):
        self.idle, self.late = idle, late
        self.rest = 0b111 if active_low else 0
        self.pads = {name: Channel(f"spi_{name}", 5, 0) for name in ("clk", "mosi", "miso", "cs0", "cs1", "cs2")}
        self.pads["clk"].initial = idle
        for bit in range(3):
            self.pads[f"cs{bit}"].initial = self.rest >> bit & 1
        self.time = 0

    def put(self, pad, level):
        channel = self.pads[pad]
        if (channel.changes[-1][1] if channel.changes else channel.initial) != level:
            channel.changes.append((self.time, level))

    def select(self, pattern):
        for bit in range(3):
            self.put(f"cs{bit}", (self.rest ^ pattern) >> bit & 1)

    def send(self, select, bits, written, read) -> Message:
        self.time += 100 * HALF
        start = self.time
        self.select(select)
        for number in reversed(range(bits)):
            if not self.late:
                self.data(written, read, number)
            self.time += HALF
            self.put("clk", 1 - self.idle)
            if self.late:
                self.data(written, read, number)
            self.time += HALF
            self.put("clk", self.idle)
        self.time += HALF
        self.select(0)
        return Message(start, self.time, select, bits, written, read)

    def data(self, written, read, number):
        self.put("mosi", written >> number & 1)
        self.put("miso", read >> number & 1)


def numbers(bits):
    return st.integers(0, (1 << bits) - 1)


ONE = st.integers(1, 80).flatmap(lambda bits: st.tuples(st.integers(1, 7), st.just(bits), numbers(bits), numbers(bits)))


@given(st.lists(ONE, min_size=1, max_size=6), st.integers(0, 1), st.booleans(), st.booleans())
def test_messages_are_recovered_from_transfers(sent, idle, late, active_low):
    bus = Bus(idle, late, active_low)
    expected = [bus.send(*message) for message in sent]
    found = list(Messages(bus.pads))
    assert len(Messages(bus.pads)) == len(found)
    assert [message[:4] for message in found] == [message[:4] for message in expected]
    for one, other in zip(found, expected, strict=True):
        # The sampling edge can be inferred only if data change between the edges.
        mosi = f"{other.written:0{other.bits}b}"
        if "01" in mosi or "10" in mosi:
            assert one.written == other.written
            assert one.read in (None, other.read)


@pytest.mark.parametrize("count", [1, 2, 12])
def test_messages_on_configured_bus_are_decoded(count):
    """The pads are low until then."""
    bus = Bus(1, False, True)
    bus.pads["clk"].initial = 0
    for name in ("cs0", "cs1", "cs2"):
        bus.pads[name].initial = 0
    bus.time = 1000
    bus.put("clk", 1)
    bus.select(0)
    bus.time += 8 - 100 * HALF
    expected = [bus.send(1, 16, 0xA55A + n, 0) for n in range(count)]
    found = list(Messages(bus.pads))
    assert [message[:5] for message in found] == [message[:5] for message in expected]


def test_idle_bus_has_no_messages():
    assert len(Messages(Bus(0, False, True).pads)) == 0


def device(driver, **arguments):
    return {"type": "local", "class": driver, "arguments": arguments}


DATABASE = {
    # Precedes its card, to which it refers by another name
    "dds": device("AD9910", chip_select=4, cpld_device="other", pll_n=32),
    "cpld": device("CPLD", spi_device="spi_u"),
    "other": "cpld",
    "slow": device("AD9912", chip_select=5, cpld_device="cpld", pll_n=8),
    "mirny": device("Mirny", spi_device="spi_m"),
    "zotino": device("Zotino", spi_device="spi_z"),
    "sampler": device("Sampler", spi_pgia_device="spi_p"),
    "tone": device("AD9834", spi_device="spi_t"),
    "att": device("HMC542B", spi_device="spi_a"),
    "adc": device("Novogorny", spi_device="spi_n", cnv_device="cnv"),
    "songbird": device("Songbird", spi_device="spi_s"),
    "dac": device("AD53xx", spi_device="spi_d", vref=2.5, offset_dacs=0),
}


def said(bus, select, bits, written, read=None):
    return Labels(DATABASE).text(bus, Message(0, 1, select, bits, written, read))


def test_message_is_described_by_the_register_table():
    labels = Labels(DATABASE)
    word = ad9910.PROFILE.encode(asf=1.0, ftw=0.25, pow=0.75)
    profile = ad9910.INSTRUCTION.encode(register=ad9910.PROFILE.address + 3) << 64 | word
    assert labels.name("spi_u", 4) == "dds"
    assert labels.name("spi_u", 2) == "cpld attenuators"
    assert labels.name("spi_x", 1) == "spi_x select 1"
    assert said("spi_u", 4, 72, profile) == "PROFILE3: asf 1, pow 0.75 turns, ftw 250 MHz"
    read = ad9910.INSTRUCTION.encode(read=1, register=ad9910.CFR2.address) << 32
    assert said("spi_u", 4, 40, read, 0x1234) == "read CFR2 = 0x1234"
    # 255 is no attenuation
    assert said("spi_u", 2, 32, 0x00FFFEF7) == "ATT: 1, 0.125, 0, 31.875 dB"
    # Unknown to the tables: the bits as a number.
    assert said("spi_u", 4, 9, 0x1FF) == "0x1ff (9 bits)"
    assert said("spi_x", 1, 16, 0xAB) == "0x00ab (16 bits)"


def test_ad9912_messages_are_described_with_units():
    stream = ad9912.INSTRUCTION.encode(length="STREAM", register=ad9912.TONE.address) << 64
    assert said("spi_u", 5, 80, stream | 0x1000 << 48 | 1 << 45) == "TONE: 125 MHz, 0.25 turns"
    head = ad9912.INSTRUCTION.encode(read=1, length=1, register=ad9912.PART_ID.address) << 16
    assert said("spi_u", 5, 32, head, 0x1902) == "read PART_ID = 0x1902"
    assert said("spi_u", 5, 24, ad9912.INSTRUCTION.encode(register=5) << 8 | 1) == "registers from 0x5 down: 0x1"


def test_mirny_messages_are_described_with_units():
    assert said("spi_m", 1, 16, mirny.ATTENUATOR.encode(attenuator=1, channel=3, att=251)) == "ch3: 0.5 dB"
    control = mirny.MESSAGE.encode(register=mirny.CONTROL.address, write=1, data=mirny.CONTROL.encode(clk_sel=2))
    assert said("spi_m", 1, 24, control) == "CONTROL: clk_sel 2"
    status = mirny.MESSAGE.encode(register=mirny.STATUS.address)
    assert said("spi_m", 1, 24, status, 0xFF000F) == "read STATUS = 0xf"
    word = mirny.HEAD.encode(destination=2) << 32 | adf5356.R0.encode(n=100, autocal=1)
    assert said("spi_m", 1, 40, word) == "ch2 R0: autocal 1, n 100"


def test_sampler_gain_messages_are_described():
    assert said("spi_p", 1, 16, 0b0110 << 2) == "gains 1, 100, 10, 1, 1, 1, 1, 1"
    assert Labels(DATABASE).name("spi_p", 1) == "sampler amplifiers"


def test_ad9834_messages_are_described_with_units():
    labels = Labels(DATABASE)
    assert labels.name("spi_t", 1) == "tone"
    control = ad9834.CONTROL.encode(b28=1, core_reset=1)
    assert said("spi_t", 1, 16, control) == "CONTROL: b28 1, core_reset 1"
    assert said("spi_t", 1, 16, ad9834.FREQUENCY.encode(second=1, half=0x123)) == "FREQUENCY1: 0x123"
    phase = ad9834.PHASE.word(1, 0x400)
    assert said("spi_t", 1, 16, phase) == "PHASE1: 0.25 turns"
    assert labels.settings("spi_t", Message(0, 1, 1, 16, phase, None)) == {"phase 1": ("turns", 0.25)}
    assert labels.settings("spi_t", Message(0, 1, 1, 16, control, None)) == {}
    # 75 MHz is its driver's default clock.
    lower, upper = (Message(n, n, 1, 16, 0x8000 | half, None) for n, half in enumerate((0, 1 << 11)))
    assert labels.settings("spi_t", upper, lower) == {"frequency 1": ("Hz", 75e6 / 8)}
    other = lower._replace(written=0x4000)
    assert labels.settings("spi_t", upper, other) == labels.settings("spi_t", upper) == {}


def test_attenuator_messages_are_described_in_decibels():
    assert said("spi_a", 1, 8, 255 - 8 * 7) == "7 dB" and said("spi_a", 1, 8, 0) == "31.5 dB"
    # In steps of 0.5 dB
    assert Labels(DATABASE).settings("spi_a", Message(0, 1, 1, 8, 254, None)) == {"attenuation": ("dB", 0.0)}
    assert said("spi_a", 1, 9, 0) == "0x000 (9 bits)"


def test_novogorny_messages_are_described_in_volts():
    assert said("spi_n", 2, 16, 0b0110 << 2) == "gains 1, 100, 10, 1, 1, 1, 1, 1"
    assert said("spi_n", 1, 16, adc_ctrl(5, 6) << 8 | adc_ctrl(2, 7)) == "next ch5 range 6, ch2 range 7"
    result = 0xC000 << 8 | 3 << 3 | 7
    assert said("spi_n", 1, 24, 0, result) == "ch3: -6.25 V at the ADC"
    assert said("spi_n", 1, 24, 0) == "result", "where what comes back is not recorded"
    assert said("spi_n", 1, 24, adc_ctrl(1, 7) << 16, result) == "ch3: -6.25 V at the ADC; next ch1 range 7"
    assert said("spi_n", 1, 5, 0) == "0x00 (5 bits)"
    assert Labels(DATABASE).name("spi_n", 2) == "adc amplifiers"


def test_dac_messages_are_in_volts():
    assert said("spi_z", 1, 24, ad53xx.WORD.encode(mode="DATA", target=8 + 31, data=0xC000)) == "ch31: 5 V"
    assert said("spi_d", 1, 24, ad53xx.WORD.encode(mode="DATA", target=8, data=0x8000)) == "ch0: 5 V"
    assert said("spi_z", 1, 24, ad53xx.WORD.encode(mode="SPECIAL", target="OFS0", data=0x2000)) == "OFS0: 0x2000"
    assert said("spi_z", 1, 24, ad53xx.WORD.encode(mode="GAIN", target=9, data=0xFFFF)) == "ch1 GAIN: 0xffff"


def test_songbird_messages_name_the_registers_of_its_dac():
    assert Labels(DATABASE).name("spi_s", 1) == "songbird DAC"
    assert said("spi_s", 1, 32, songbird.MESSAGE.encode(register=4, value=0x0B)) == "register 0x04 (output): 0x0b"
    assert said("spi_s", 1, 32, songbird.MESSAGE.encode(register=0x18, value=0x5A)) == "register 0x18: 0x5a"
    question = songbird.MESSAGE.encode(read=1, register=2)
    assert said("spi_s", 1, 32, question, 2 << 16) == "read register 0x02 (clock) = 0x2"
    assert said("spi_s", 1, 32, question) == "read register 0x02 (clock)", "where what comes back is not recorded"
    assert said("spi_s", 1, 24, 1) == "0x000001 (24 bits)"
