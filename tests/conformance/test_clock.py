"""The RTIO clock on gateware that can run from a Si5324: the key `rtio_clock`, and a clock that
fails while the device runs; seen from the log, the chip's output, pins and sessions."""

import pytest
from kairos_gateware import build

from tests.support import sd_card, waiting
from tests.support.connection import assert_closed
from tests.support.kernels import begin, edges, kernel, run_empty, run_rtio
from tests.support.paths import BUILD
from tests.support.raw_management import Management
from tests.support.raw_session import Session
from tests.support.waiting import let_pass, printed

I2C_READ_FOR_EVER = 0
"""Operation of the kernel `i2c`."""


OSCILLATOR = ["si5324=0", "si549=1"]
"""A Kasli-SoC without a Si5324."""
INTERNAL = 125_000_001
"""The clock of the Si5324 without an input, in Hz: its tabled dividers give 1.1 Hz more than 125 MHz."""


@pytest.fixture(scope="module")
def clocked():
    """Library of variant `clocked`, rebuilt if outdated."""
    output = BUILD / "gateware" / "clocked"
    assert build.main(["--variant", "clocked", "--board", "sim", "--output", str(output)]) == 0
    return output / "libkairos_pl.so"


@pytest.fixture
def boot(start_device, clocked, tmp_path):
    """`boot(setting, emulator settings...)` returns the device, its log, and the synthesiser frequency."""
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
    """Returns the only line of the log with this text."""
    (found,) = [line for line in log.splitlines() if text in line]
    return found


def seconds(line):
    """Time of a log line in seconds since power-up."""
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
def test_every_setting_gives_its_clock(boot, setting, input_frequency):
    device, log, output = boot(setting, f"clock_input={input_frequency}")
    assert f"RTIO clock: {setting or 'int_125'}, Si5324 ready" in line(log, "RTIO clock:")
    assert output == (INTERNAL if setting in (None, "int_125") else 125_000_000)
    if setting is None:
        # 0.1 s until lock; the rest is I2C traffic, searching for the chip behind the bus switches.
        assert 0.1 < seconds(line(log, "RTIO clock:")) - seconds(line(log, "RTIO: ")) < 0.125
    assert "ERROR" not in log and "WARN" not in log, log
    with Session(device) as session:
        run_empty(session)


@pytest.mark.parametrize("setting", [None, "int_125"])
def test_board_without_si5324_runs_from_its_oscillator(boot, setting):
    device, log, output = boot(setting, *OSCILLATOR)
    assert "RTIO clock: int_125, Si549 ready" in line(log, "RTIO clock:")
    assert output == 125_000_000 and "ERROR" not in log and "WARN" not in log, log
    run_rtio(device)


def test_oscillator_that_is_not_selected_gives_no_clock(boot):
    _, log, output = boot(None, *OSCILLATOR, "expanders=0")
    assert "the Si549 is not selected: I/O expander 1 does not answer on the I2C bus" in line(log, "RTIO clock:")
    assert output == 0


@pytest.mark.parametrize("setting", ["int_100", "int_150"])
def test_setting_of_another_frequency_is_refused(boot, setting):
    _, log, output = boot(setting)
    assert f"rtio_clock={setting} is ignored: this gateware is built for 125 MHz" in line(log, "WARN")
    assert "RTIO clock: int_125, Si5324 ready" in log
    assert output == INTERNAL


@pytest.mark.parametrize("setting", ["e", "ext0_synth0_10to100", "INT_125"])
def test_unknown_setting_is_ignored_with_a_warning(boot, setting):
    _, log, output = boot(setting)
    assert f"rtio_clock={setting} is invalid and ignored" in line(log, "WARN")
    assert "RTIO clock: int_125, Si5324 ready" in log
    assert output == INTERNAL


@pytest.mark.parametrize(
    ("setting", "emulator", "reason"),
    [
        ("ext0_synth0_10to125", ["clock_input=0"], "there is no clock at the external input"),
        ("ext0_bypass", ["clock_input=0"], "there is no clock at the external input"),
        pytest.param(
            *("ext0_synth0_10to125", ["clock_input=100000000"], "does not lock within 20 s"), marks=pytest.mark.long
        ),
        ("ext0_bypass", ["clock_input=100000000"], "the Si5324 gives 100.00 MHz, not 125.00 MHz"),
        ("int_125", ["si5324=0"], "no Si5324 answers"),
        ("ext0_bypass", [*OSCILLATOR, "clock_input=125000000"], "the Si549 of this board follows no other clock"),
    ],
)
def test_device_without_external_clock_works_without_rtio(boot, setting, emulator, reason):
    device, log, output = boot(setting, *emulator)
    errors = [line for line in log.splitlines() if "ERROR" in line]
    assert len(errors) == 2 and f"RTIO clock: {setting}: " in errors[0] and reason in errors[0], log
    assert "RTIO is not available" in errors[1]
    assert output in (0, 100_000_000)
    with Session(device) as session:
        run_empty(session)
    with Session(device) as session:
        assert session.load(kernel("rtio")) is None
        session.run()
        _, exception = session.until_end()
        assert "no gateware is loaded, or it has no clock" in str(exception)


@pytest.mark.parametrize("setting", ["ext0_synth0_10to125", "ext0_bypass"])
def test_setting_on_gateware_without_synthesiser_is_ignored(boot, setting):
    _, log, output = boot(setting, "clock_input=10000000", gateware=True)
    refused = f"rtio_clock={setting} is ignored: the RTIO clock of this gateware comes from the processing system"
    assert refused in line(log, "WARN")
    assert "RTIO clock: int_125, from the processing system" in log
    assert output == 0, "the chip is left alone"


def test_link_clock_is_refused_except_on_a_satellite(boot):
    _, log, output = boot("link_125")
    assert "rtio_clock=link_125 is ignored: this gateware has no link to an upstream board" in line(log, "WARN")
    assert "RTIO clock: int_125, Si5324 ready" in log
    assert output == INTERNAL


def test_synthesiser_is_set_up_after_reset_within_a_transaction(boot):
    """A device on the bus holds SDA low when a reset interrupts the kernel reading from it."""
    device, _, _ = boot("int_125")
    with Session(device) as session:
        begin(session, "i2c", I2C_READ_FOR_EVER)
        session.message(10)
        assert session.request().arguments == [1]
        with Management(device) as client:
            assert client.reply(b"\x05") == 3
        printed(device, "kernel core ready", 2)
    with Management(device) as client:
        log = client.log()
    assert "RTIO clock: int_125, Si5324 ready" in line(log, "RTIO clock:")


def until(device, text, count=1):
    """Same as `printed`. The device's time advances while a client is silent."""
    with Management(device):
        return printed(device, text, count)


def test_lost_clock_ends_the_kernel_and_rtio_recovers(boot):
    """ClockFailure (message 15), then the connection closes; RTIO recovers by itself with the clock."""
    device, log, _ = boot("ext0_bypass", "clock_input=125000000")
    run_rtio(device)
    with Session(device) as session:
        assert session.load(kernel("endless")) is None
        session.run()
        session.message(10)
        assert session.request().arguments == [1]
        device.control("clock", input=0)
        session.message(15)
        assert_closed(session)
    assert "session ended: its kernel has no RTIO clock" in until(device, "RTIO clock: lost, RTIO has stopped")
    with Session(device) as session:
        assert session.load(kernel("endless")) is None
        session.run()
        session.message(15)
        assert_closed(session)
    for output in (125_000_000, 0, 125_000_000):
        device.control("clock", input=output)
        log = until(device, "RTIO clock: back" if output else "RTIO clock: lost", 1 if output else 2)
    log = until(device, "RTIO clock: back", 2)
    assert log.count("RTIO clock: lost") == 2
    run_rtio(device)
    assert device.control("status")["pl_slips"] == 0


def test_failing_external_clock_is_logged_and_kernels_continue(boot):
    """The synthesiser and kernels continue without it; each change logs one line."""
    device, _, output = boot("ext0_synth0_10to125", "clock_input=10000000")
    assert output == 125_000_000
    for found, name in [(0, "no clock"), (100_000_000, "100.00 MHz")]:
        device.control("clock", input=found)
        log = until(device, f"the external clock has failed ({name}), the Si5324 runs without it")
        run_rtio(device)
        device.control("clock", input=10_000_000)
        log = until(device, "RTIO clock: the external clock is back", 1 if found == 0 else 2)
    assert log.count("has failed") == 2 and "RTIO clock: lost" not in log
    with Management(device) as client:
        assert client.reply(b"\x05") == 3
    printed(device, "kernel core ready", 2)
    with Management(device) as client:
        log = client.log()
    kept = line(log, "before this start: the external clock of RTIO had failed (100.00 MHz)")
    assert " s after its start" in kept


def pulses(device):
    return [level for _, level in edges(device)].count(1)


def test_idle_kernel_waits_for_the_clock(boot):
    device, _, _ = boot("ext0_bypass", "clock_input=125000000")
    with Management(device) as client:
        assert client.config_write(b"idle_kernel", kernel("idle"))
    until(device, "idle kernel: running")
    device.control("clock", input=0)
    until(device, "RTIO clock: lost")
    stopped = pulses(device)
    let_pass(device, 0.5)
    assert stopped == pulses(device) > 0
    device.control("clock", input=125_000_000)
    log = until(device, "RTIO clock: back")
    with Management(device):
        waiting.until(lambda: pulses(device) > stopped, device.uart)
    assert log.count("RTIO clock: lost") == 1 and log.count("idle kernel: it has no RTIO clock") <= 1
