"""Registers of a pulse core through the hub: those of the gateware `pulse`, while kernels use it."""

import pytest
from kairos_gateware.testbenches.pulse_blocks import Body, bypass, gates

from tests.support.gateware import built
from tests.support.hub import demo_lab, fails
from tests.support.sequences import int32s, pulses

HEAD = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        self.words = WORDS

    @kernel
    def run(self):
        self.core.reset()
        delay(100*us)
        if TRIGGER:
            self.pulse0.trigger()
            delay(20*us)
        self.pulse0.send(self.words)
        delay(20*us)
        self.core.wait_until_mu(now_mu() + 2000)
"""


@pytest.fixture(scope="module")
def device(tmp_path_factory, start_device):
    device = start_device(tmp_path_factory.mktemp("device"), gateware=built("pulse") / "libkairos_pl.so")
    yield device
    device.close()


@pytest.fixture
def registers(hub):
    with demo_lab(hub) as lab:
        yield lab["demo"].registers


@pytest.fixture
def send(kairos, device, pulse, tmp_path):
    """Send words to the core, optionally after a trigger, from a kernel on the device that the hub
    reads."""
    database = tmp_path / "device_db.py"
    database.write_text(pulse.read_text().replace("emulator://pulse", f"{device.host}:{device.port}"))

    def send(words, trigger=False):
        head = HEAD.replace("WORDS", repr(int32s(words))).replace("TRIGGER", repr(trigger))
        done = kairos.run("", head=head, device_db=database)
        assert done.returncode == 0, done.stdout + done.stderr

    return send


def test_pulse_core_registers_report_its_configuration(registers):
    config, arguments = registers.pulse.config.read(), registers["pulse/config"]
    assert (arguments.width, arguments.writable) == (32, False)
    channels, samples = config & 0xF, config >> 4 & 0xF
    assert (channels, config >> 13 & 0x1F, config >> 18 & 0x1F) == (2, 11, 10)
    assert registers.pulse.rate.read() * 100 == samples * 125_000_000
    assert registers["pulse/cycle"].width == 64


def test_registers_are_read_beside_kernels(registers, send):
    core = registers.pulse
    send([*pulses(4, 8, 12), gates([8, 0])])
    assert (core.armed.read(), core.error.read(), core.underrun.read()) == (1, 0, 0)
    # The armed segment starts with the trigger, and nothing follows it
    send([bypass(Body(tau=20), 0xFF)], trigger=True)
    assert core.armed.read() == 0 and core.error.read() != 0 and core.underrun.read() & 0xFF != 0


def test_registers_of_the_firmware_are_refused(registers):
    fails("PERMISSION_DENIED", "pulse/first_channel", lambda: registers.pulse.first_channel.write(1))
    assert "trigger" not in dir(registers.pulse) or not registers.pulse.trigger.writable
