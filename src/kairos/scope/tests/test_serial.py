"""Messages are found again on the pads of a bus, however its clock idles and samples."""

from hypothesis import given
from hypothesis import strategies as st

from kairos.coredevice.chips import ad9910
from kairos.scope.serial import Labels, Message, messages
from kairos.waveform import Channel

HALF = 40
"""Half a period of the clock, ns."""


class Bus:
    """Pads, driven as a master drives them."""

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
def test_messages_are_found_again(sent, idle, late, active_low):
    bus = Bus(idle, late, active_low)
    expected = [bus.send(*message) for message in sent]
    found = list(messages(bus.pads))
    assert [message[:4] for message in found] == [message[:4] for message in expected]
    for one, other in zip(found, expected, strict=True):
        # Which edge samples is known only if data change between the edges.
        mosi = f"{other.written:0{other.bits}b}"
        if "01" in mosi or "10" in mosi:
            assert one.written == other.written
            assert one.read in (None, other.read)


def test_a_bus_that_rests_says_nothing():
    assert list(messages(Bus(0, False, True).pads)) == []


DATABASE = {
    "cpld": {"type": "local", "class": "CPLD", "arguments": {"spi_device": "spi_u"}},
    "dds": {"type": "local", "class": "AD9910", "arguments": {"chip_select": 4, "cpld_device": "cpld"}},
    "other": "cpld",
}


def test_what_a_message_says():
    labels = Labels(DATABASE)
    word = ad9910.PROFILE.encode(asf=1.0, ftw=0.25)
    profile = ad9910.INSTRUCTION.encode(register=ad9910.PROFILE.address + 3) << 64 | word
    assert labels.name("spi_u", 4) == "dds"
    assert labels.name("spi_u", 2) == "cpld attenuators"
    assert labels.name("spi_x", 1) == "spi_x select 1"
    assert labels.text("spi_u", Message(0, 1, 4, 72, profile, None)) == "PROFILE3: asf 1, ftw 0.25"
    read = ad9910.INSTRUCTION.encode(read=1, register=ad9910.CFR2.address) << 32
    assert labels.text("spi_u", Message(0, 1, 4, 40, read, 0x1234)) == "read CFR2 = 0x1234"
    # Nothing that the tables know: the bits as a number.
    assert labels.text("spi_u", Message(0, 1, 4, 9, 0x1FF, None)) == "0x1ff (9 bits)"
    assert labels.text("spi_x", Message(0, 1, 1, 16, 0xAB, None)) == "0x00ab (16 bits)"
