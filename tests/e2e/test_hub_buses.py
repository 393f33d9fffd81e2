"""Access of the hub to the I2C bus and the pins of a board: alone, during a kernel, from the
command line."""

import threading
from pathlib import Path

import pytest

from kairos.hub import HubError, Program, ProgramError
from kairos.hub.buses import unpacked
from tests.support.command import run_kairos
from tests.support.hub import demo_lab
from tests.support.kernels import begin
from tests.support.raw_session import Session

SWITCH, EXPANDER, EEPROM, SYNTHESISER = 0x74, 0x3E, 0x50, 0x68
CARDS = (SWITCH, 1 << 2)
CLOCK = (SWITCH, 1 << 4)
BESIDE = Path(__file__).with_name("experiments") / "i2c_beside.py"
READ_FOR_EVER = 0
"""Command of the kernel `i2c`."""


@pytest.fixture
def demo(hub):
    with demo_lab(hub) as lab:
        yield lab["demo"]


def test_bus_device_is_written_and_read(demo):
    before = demo.i2c.read(SWITCH, 1)
    demo.i2c.write(EXPANDER, [0x5A], CARDS)
    assert demo.i2c.read(EXPANDER, 1, switch=CARDS) == b"\x5a"
    demo.i2c.write(EEPROM, [0x20, *range(1, 8)], CARDS)
    assert demo.i2c.read(EEPROM, 9, register=0x20, switch=CARDS) == bytes([*range(1, 8), 255, 255])
    assert demo.i2c.read(SWITCH, 1) == before, "the switch is as it was"
    assert demo.i2c.read(SYNTHESISER, 2, register=134, switch=CLOCK) == b"\x01\x82"


def test_bus_scan_lists_answering_addresses(demo):
    demo.i2c.write(SWITCH, [0])
    assert demo.i2c.scan() == [0x70, 0x71, SWITCH]
    assert demo.i2c.scan(CARDS) == [EXPANDER, EEPROM, 0x70, 0x71, SWITCH]
    with pytest.raises(ProgramError) as failed:
        demo.i2c.read(EXPANDER, 1)
    assert failed.value.code == "NOT_ACKNOWLEDGED" and "no device on the I2C bus" in str(failed.value)


def test_program_transfers_on_bus_and_failing_step_is_reported(demo):
    """Bytes read by a step appear between the results of others; a failing step is reported."""
    demo.i2c.write(EEPROM, [0x20, *range(1, 8)], CARDS)
    program = Program()
    program.read("rtio/outputs")
    with program.loop(3):
        program.i2c(EEPROM, b"\x20", 5, CARDS)
    program.i2c(0x11, read=1)
    program.read("rtio/outputs")
    with pytest.raises(ProgramError) as failed:
        demo.run(program)
    error = failed.value
    assert (error.code, error.step, len(error.results)) == ("NOT_ACKNOWLEDGED", 3, 1 + 3 * 2)
    assert unpacked(error.results[1:3], 5) == bytes(range(1, 6))


def test_impossible_i2c_transfer_is_refused_with_the_limits(demo):
    for work in (
        lambda: demo.i2c.read(0x80, 1),
        lambda: demo.i2c.write(0x50, bytes(9)),
        lambda: demo.i2c.read(0x50, 65),
        lambda: demo.i2c.read(0x50, 1, switch=(0, 1)),
    ):
        with pytest.raises(HubError, match="addresses have 7 bits") as failed:
            work()
        assert failed.value.code == "INVALID_ARGUMENT"


def test_kernel_and_hub_share_the_bus_undisturbed(demo, kairos, device_db):
    """Both use the same switch, each a different channel, without disturbing each other."""
    done = threading.Event()
    wrong, rounds = [], [0]

    def read():
        while not done.is_set():
            found = demo.i2c.read(SYNTHESISER, 2, register=134, switch=CLOCK)
            rounds[0] += 1
            if found != b"\x01\x82":
                wrong.append(found)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        run = kairos("run", BESIDE, device_db=device_db)
    finally:
        done.set()
        reader.join()
    assert run.stdout.startswith("wrong 0\n"), run.stdout + run.stderr
    assert wrong == [] and rounds[0] > 10


def test_bus_held_by_kernel_is_reported(demo, device):
    """It has begun a transaction and does not end it; requests for the bus fail with an outcome,
    and work once the kernel has ended."""
    with Session(device) as session:
        begin(session, "i2c", READ_FOR_EVER)
        session.message(10)
        assert session.request().arguments == [1]
        with pytest.raises(ProgramError) as failed:
            demo.i2c.read(SWITCH, 1)
        assert failed.value.code == "BUS_BUSY", failed.value
    with Session(device):
        pass
    assert demo.i2c.read(SWITCH, 1) in (b"\0", b"\4")


def test_pins_are_overridden_and_released(demo):
    assert "ttl4" in list(demo.pins)
    pin = demo.pins["ttl4"]
    assert not pin.level()
    pin.hold(True)
    assert pin.level()
    pin.release()
    assert not pin.level()
    both = demo.pins["ttl0"]
    both.hold(True)
    assert both.level()
    both.release()
    with pytest.raises(KeyError, match="no 'rtio_log' among its pins"):
        demo.pins["rtio_log"]
    program = Program()
    program.override("rtio_log", True)
    with pytest.raises(HubError, match="only TTLs have overrides"):
        demo.run(program)


def test_channels_of_the_device_are_listed(demo):
    found = {channel.name: (channel.number, channel.kind) for channel in demo.channels()}
    assert found["ttl0"] == (0, "ttl_inout") and found["ttl4"] == (4, "ttl_out") and found["rtio_log"] == (12, "log")


def test_command_line_transfers_on_bus(hub, demo, tmp_path):
    def run(*words):
        done = run_kairos("hub", *words, "--hub", hub.address)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    demo.i2c.write(EXPANDER, [0xA5], CARDS)
    assert run("i2c", "demo", hex(EXPANDER), "--read", "1", "--switch", "0x74:4") == "a5"
    assert run("i2c", "demo", hex(EEPROM), "--write", "0x30", "7", "8", "--switch", "0x74:4") == ""
    assert demo.i2c.read(EEPROM, 2, register=0x30, switch=CARDS) == b"\7\x08"
    assert run("i2c", "demo") == " ".join(map(hex, demo.i2c.scan()))
    assert [run("pin", "demo/ttl5", "1"), run("pin", "demo/ttl5")] == ["", "1"]
    assert [run("pin", "demo/ttl5", "release"), run("pin", "demo/ttl5")] == ["", "0"]
    program = tmp_path / "program.json"
    program.write_text(
        '[{"write": {"register": "scratch/word", "value": "9"}}, {"read": {"register": "scratch/word"}}]'
    )
    assert run("batch", "demo", program) == "9 0x9"
    program.write_text('[{"red": {}}]')
    wrong = run_kairos("hub", "batch", "demo", program, "--hub", hub.address)
    assert wrong.returncode == 1 and "not a list of steps" in wrong.stderr
