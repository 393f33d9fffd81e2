"""Transactions on the I2C bus: start `S`, restart `R`, stop `P`, bytes written as such, `?` for a
byte read and acknowledged and `!` for one read and not acknowledged."""

import pytest

from kairos.compiler.tests.jit import Compiled
from kairos.coredevice import i2c
from kairos.coredevice.core import Core
from kairos.coredevice.i2c import PCF8574A, TCA6424A, I2CSwitch
from kairos.coredevice.kasli_i2c import KasliEEPROM, port_mapping
from kairos.language import TInt32, TList, kernel

BUS = 3


class Devices:
    """A device manager with a core and two switches."""

    def __init__(self):
        self.core = Core(self, host=None, ref_period=1e-9)
        self.i2c_switch0 = I2CSwitch(self, BUS)
        self.i2c_switch1 = I2CSwitch(self, BUS, 0xE2)

    def get(self, name):
        return getattr(self, name)


class Program:
    def __init__(self):
        self.core = Devices().core

    @kernel
    def read(self, number) -> TInt32:
        data = [0] * number
        i2c.i2c_read_many(BUS, 0xA0, 0x10, data)
        word = 0
        for byte in data:
            word = 256 * word + byte
        return word

    @kernel
    def write(self, data: TList(TInt32), strict):
        i2c.i2c_write_many(BUS, 0xA0, 0x10, data, strict)

    @kernel
    def write_byte(self, strict):
        i2c.i2c_write_byte(BUS, 0xA0, 0x55, strict)

    @kernel
    def read_byte(self) -> TInt32:
        return i2c.i2c_read_byte(BUS, 0xA0)

    @kernel
    def poll(self):
        return i2c.i2c_poll(BUS, 0xA0)


@pytest.fixture
def program():
    return Program()


def transaction(method, *args, refused=(), answers=()):
    """Return the activity on the bus, and the result. The written bytes numbered `refused` are not
    acknowledged."""
    sent, replies = iter(range(1000)), iter(answers)
    firmware = {name: lambda bus: None for name in ("i2c_start", "i2c_restart", "i2c_stop")}
    firmware["i2c_write"] = lambda bus, byte: next(sent) not in refused
    firmware["i2c_read"] = lambda bus, ack: next(replies)
    firmware["i2c_switch_select"] = lambda bus, address, mask: None
    result = Compiled(method, args, method.__self__.core).run(firmware=firmware)
    return " ".join(map(note, result.calls)), result


def note(call):
    match call:
        case (("i2c_start" | "i2c_restart" | "i2c_stop") as name, (bus,)):
            assert bus == BUS
            return {"i2c_start": "S", "i2c_restart": "R", "i2c_stop": "P"}[name]
        case ("i2c_write", (bus, byte)):
            assert bus == BUS
            return f"{byte & 0xFF:02x}"
        case ("i2c_read", (bus, ack)):
            assert bus == BUS
            return "?" if ack else "!"
        case ("i2c_switch_select", (bus, address, mask)):
            assert bus == BUS
            return f"{address:02x}:{mask:02x}"


def test_transactions_have_start_address_and_stop(program):
    bus, result = transaction(program.read, 3, answers=[1, 2, 3])
    assert (bus, result.value) == ("S a0 10 R a1 ? ? ! P", 0x010203)
    assert transaction(program.read, 0)[0] == "S a0 10 R a1 P"
    assert transaction(program.write, [1, 2, 255], True)[0] == "S a0 10 01 02 ff P"
    assert transaction(program.write_byte, True)[0] == "S a0 55 P"
    bus, result = transaction(program.read_byte, answers=[7])
    assert (bus, result.value) == ("S a1 ! P", 7)
    bus, result = transaction(program.poll)
    assert (bus, result.value) == ("S a0 P", True)


def test_missing_acknowledge_raises_i2c_error(program):
    bus, result = transaction(program.poll, refused=[0])
    assert (bus, result.value) == ("S a0 P", False)
    # The last byte of a message may be refused if the caller permits it, no other.
    assert transaction(program.write, [1, 2], False, refused=[3])[1].exception is None
    assert transaction(program.write_byte, False, refused=[1])[1].exception is None
    for method, args, refused, bus, text in [
        (program.write, ([1, 2], True), 0, "S a0", "failed to ack bus address"),
        (program.write, ([1, 2], True), 1, "S a0 10", "failed to ack data address"),
        (program.write, ([1, 2], False), 2, "S a0 10 01", "failed to ack write data"),
        (program.write, ([1, 2], True), 3, "S a0 10 01 02", "failed to ack write data"),
        (program.write_byte, (True,), 1, "S a0 55", "failed to ack write data"),
        (program.read, (2,), 1, "S a0 10", "failed to ack data address"),
        (program.read, (2,), 2, "S a0 10 R a1", "failed to ack bus read address"),
        (program.read_byte, (), 0, "S a1", "failed to ack bus read address"),
    ]:
        noted, result = transaction(method, *args, refused=[refused])
        assert result.exception[0] == "artiq.coredevice.exceptions.I2CError" and result.message == text
        # Here an exception ends the run; the following stop is tested on the device.
        assert noted == bus


def test_expander_and_switch_are_written():
    devices = Devices()
    assert transaction(devices.i2c_switch1.set, 5)[0] == "71:20"
    assert transaction(devices.i2c_switch0.unset)[0] == "74:00"
    assert transaction(TCA6424A(devices, BUS).set, 0x123456)[0] == "S 44 8c 00 00 00 P S 44 84 56 34 12 P"
    assert transaction(PCF8574A(devices, BUS).set, 0xA5)[0] == "S 7c a5 P"
    assert transaction(PCF8574A(devices, BUS).get, answers=[9])[1].value == 9


@pytest.mark.parametrize(
    "port, selected, deselected",
    [("EEM0", "71:00 74:80", {"74:00", "71:00"}), ("LOC0", "74:00 71:08", {"74:00", "71:00"})],
)
def test_eeprom_pages_are_written_and_read(port, selected, deselected):
    eeprom = KasliEEPROM(Devices(), port, busno=BUS)
    bus, result = transaction(eeprom.read_i32, 4, answers=[0x12, 0x34, 0x56, 0x78])
    assert result.value == 0x12345678
    assert bus.startswith(f"{selected} S a0 04 R a1 ? ? ? ! P ") and set(bus.split()[-2:]) == deselected
    bus, _ = transaction(eeprom.write_i32, 4, -2)
    assert bus.startswith(f"{selected} S a0 04 ff ff ff fe P ") and set(bus.split()[-2:]) == deselected


def test_switch_ports_of_connectors_match_the_card():
    eems = {f"EEM{number}": port for number, port in enumerate([7, 5, 4, 3, 2, 1, 0, 6, 12, 13, 15, 14])}
    assert port_mapping == eems | {"SFP0": 8, "SFP1": 9, "SFP2": 10, "LOC0": 11}
