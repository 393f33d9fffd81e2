"""The key `rtio_clock` on gateware whose clock a Si5324 makes, from the log, the chip's output and a session."""

import os
import time
from pathlib import Path

import pytest
from kairos_gateware import build

from . import sd_card
from .raw_management import Management
from .raw_session import Session
from .test_i2c_raw import READ_FOR_EVER, begin
from .test_session_raw import kernel, run_empty

BUILD = Path(os.environ.get("KAIROS_BUILD") or Path(__file__).parents[2] / "build")


@pytest.fixture(scope="module")
def clocked():
    """Library of variant `clocked`, which is built if it is not up to date."""
    output = BUILD / "gateware" / "clocked"
    assert build.main(["--variant", "clocked", "--board", "sim", "--output", str(output)]) == 0
    return output / "libkairos_pl.so"


@pytest.fixture
def boot(start_device, clocked, tmp_path):
    """`boot(setting, emulator settings...)`: the device, its log, and the frequency of the synthesiser."""
    devices = []

    def start(setting, *settings, gateware=clocked):
        files = [(b"CONFIG  TXT", f"rtio_clock={setting}\n".encode())] if setting is not None else []
        card = sd_card.make(tmp_path / "card", files)
        device = start_device(tmp_path, gateware=gateware, sd=card, settings=settings)
        devices.append(device)
        with Management(device) as client:
            log = client.log()
        return device, log, device.control("status")["clock_output"]

    yield start
    for device in devices:
        device.close()


def line(log, text):
    """The only line of the log with this text."""
    (found,) = [line for line in log.splitlines() if text in line]
    return found


def seconds(line):
    """Since power-up, of a line of the log."""
    return float(line[1:].partition("s]")[0])


@pytest.mark.parametrize(
    ("setting", "input_frequency"),
    [
        (None, 0),
        ("int_125", 0),
        ("ext0_synth0_10to125", 10_000_000),
        ("ext0_synth0_80to125", 80_000_000),
        ("ext0_synth0_100to125", 100_000_000),
        ("ext0_synth0_125to125", 125_000_000),
        ("ext0_bypass", 125_000_000),
        ("ext0_bypass_125", 125_000_000),
        ("ext0_bypass_100", 125_000_000),
    ],
)
def test_every_setting_gives_the_clock(boot, setting, input_frequency):
    device, log, output = boot(setting, f"clock_input={input_frequency}")
    assert f"RTIO clock: {setting or 'int_125'}, Si5324 ready" in line(log, "RTIO clock:")
    assert output == 125_000_000
    if setting is None:
        assert 0.1 < seconds(line(log, "RTIO clock:")) - seconds(line(log, "RTIO: ")) < 0.115
    assert "ERROR" not in log and "WARN" not in log, log
    with Session(device) as session:
        run_empty(session)


@pytest.mark.parametrize("setting", ["int_100", "int_150"])
def test_another_frequency_than_the_gateware_s(boot, setting):
    _, log, output = boot(setting)
    assert f"rtio_clock={setting} is ignored: this gateware is built for 125 MHz" in line(log, "WARN")
    assert "RTIO clock: int_125, Si5324 ready" in log
    assert output == 125_000_000


@pytest.mark.parametrize("setting", ["e", "ext0_synth0_10to100", "INT_125"])
def test_unknown_values(boot, setting):
    _, log, output = boot(setting)
    assert f"rtio_clock={setting} makes no sense and is ignored" in line(log, "WARN")
    assert "RTIO clock: int_125, Si5324 ready" in log
    assert output == 125_000_000


@pytest.mark.parametrize(
    ("setting", "emulator", "reason"),
    [
        ("ext0_synth0_10to125", ["clock_input=0"], "there is no clock at the external input"),
        ("ext0_bypass", ["clock_input=0"], "there is no clock at the external input"),
        pytest.param(
            *("ext0_synth0_10to125", ["clock_input=100000000"], "does not lock within 2 s"), marks=pytest.mark.long
        ),
        ("int_125", ["si5324=0"], "no Si5324 answers on the I2C bus"),
    ],
)
def test_without_the_clock_the_device_works_without_rtio(boot, setting, emulator, reason):
    device, log, output = boot(setting, *emulator)
    errors = [line for line in log.splitlines() if "ERROR" in line]
    assert len(errors) == 2 and f"RTIO clock: {setting}: " in errors[0] and reason in errors[0], log
    assert "RTIO is not available" in errors[1]
    assert output == 0
    with Session(device) as session:
        run_empty(session)
    with Session(device) as session:
        assert session.load(kernel("rtio")) is None
        session.run()
        _, exception = session.until_end()
        assert "no gateware is loaded, or it has no clock" in str(exception)


@pytest.mark.parametrize("setting", ["ext0_synth0_10to125", "ext0_bypass"])
def test_gateware_without_a_synthesiser(boot, setting):
    _, log, output = boot(setting, "clock_input=10000000", gateware=True)
    refused = f"rtio_clock={setting} is ignored: the RTIO clock of this gateware is that of the processing system"
    assert refused in line(log, "WARN")
    assert "RTIO clock: int_125, of the processing system" in log
    assert output == 0, "the chip is left alone"


def test_a_reset_in_the_middle_of_a_transaction(boot):
    """A device on the bus holds SDA low when the kernel that reads it is cut off by a reset."""
    device, _, _ = boot("int_125")
    with Session(device) as session:
        begin(session, READ_FOR_EVER)
        session.message(10)
        assert session.request().arguments == [1]
        with Management(device) as client:
            assert client.reply(b"\x05") == 3
        end = time.monotonic() + 10
        while device.uart().count("kernel core ready") < 2:
            assert time.monotonic() < end, device.uart()
            time.sleep(0.05)
    with Management(device) as client:
        log = client.log()
    assert "RTIO clock: int_125, Si5324 ready" in line(log, "RTIO clock:")
