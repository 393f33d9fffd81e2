"""The pulse core from a kernel: words through compiler, firmware, kernel initiator and RTIO into
the tables; sequences started by a trigger at an exact time, seen at the pins."""

import json

from kairos_gateware.phy.pulse import PIN_LATENCY
from kairos_gateware.testbenches.pulse_blocks import Body, bypass, gates, glut

from kairos.network.management import Management
from tests.support.device import Device
from tests.support.paths import BUILD
from tests.support.sequences import int32s, pulses

HEAD = """import json

from artiq.coredevice.pulse import PulseUnderrun
from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        self.setattr_device("ttl5")
        self.setattr_device("ttl0")
        self.setattr_device("ttl0_counter")
        self.words = WORDS

    def pads(self):
        from kairos.emulator import acquire

        with open("trace.json", "w") as file:
            json.dump(acquire("emulator://pulse").control.trace(), file)

    def report(self, name, value):
        print(name, value)

    def run(self):
        self.outputs()
        self.pads()

    @kernel
    def outputs(self):
        self.core.reset()
        delay(100*us)
"""


def run(kairos, database, words, body):
    """Return the command's output."""
    done = kairos.run(body, head=HEAD.replace("WORDS", repr(int32s(words))), device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def edges(tmp_path, *names):
    """Return (time in machine units, name, level) of all changes of pins, in order."""
    trace = json.loads((tmp_path / "trace.json").read_text())
    numbers = {pad["index"]: pad["name"] for pad in trace["pads"]}
    begin = trace["events"][0][0]  # all pins get their first level
    return [(time, numbers[pad], on) for time, pad, on in trace["events"] if numbers[pad] in names and time > begin]


def test_sequence_starts_with_simultaneous_ttl_pulse(kairos, tmp_path, pulse):
    words = [*pulses(4, 8, 12), gates([8, 0, 7, 1, 7, 2, 0, 7, 8])]
    out = run(
        kairos,
        pulse,
        words,
        """
        self.pulse0.set_trigger_channels(1)
        delay(1*us)
        self.pulse0.send(self.words)
        delay(20*us)
        self.ttl5.on()
        self.pulse0.trigger()
        delay(10*us)
        self.ttl5.off()
        delay(10*us)
        self.pulse0.check()
        delay(20*us)
        self.report("armed", self.pulse0.status() >> 16)
        self.core.wait_until_mu(now_mu() + 2000)
""",
    )
    assert "armed 1" in out.splitlines()
    seen = edges(tmp_path, "ttl5", "pulse0_0_enable0")
    start = next(t for t, name, level in seen if name == "ttl5" and level)
    cycles = [(t - start) // 8 - PIN_LATENCY for t, name, _ in seen if name != "ttl5"]
    # Wait 10, on 4, off 10, on 8, off 10, on 12 + 4
    assert cycles == [10, 14, 24, 32, 42, 58]


def test_pulse_errors_raise_named_exception(kairos, tmp_path, pulse):
    out = run(
        kairos,
        pulse,
        [bypass(Body(tau=20), 0xFF)],
        """
        self.pulse0.send(self.words)
        delay(20*us)
        try:
            self.pulse0.check()
        except PulseUnderrun:
            self.report("caught", 1)
        self.core.break_realtime()
        self.pulse0.check()
        delay(20*us)
        self.report("errors", self.pulse0.status())
""",
    )
    assert out.splitlines()[:2] == ["caught 1", "errors 0"]


def test_result_sent_by_kernel_selects_gate(kairos, tmp_path, pulse):
    """A kernel's own decision, and a result that arrives at an exact time."""
    words = pulses(4, 8, 12)
    words += [glut([(0x800 | state << 7, 2 * state, 2 * state + 1) for state in range(3)])]
    words += [gates([0], mode=5), gates([7, 8])]
    run(
        kairos,
        pulse,
        words,
        """
        self.pulse0.send(self.words)
        delay(20*us)
        self.pulse0.result(2)
        delay(20*us)
        self.core.wait_until_mu(now_mu() + 2000)
""",
    )
    seen = edges(tmp_path, "pulse0_0_enable0")
    assert [(b[0] - a[0]) // 8 for a, b in zip(seen[::2], seen[1::2], strict=True)] == [12]


def test_counter_selects_gate_without_kernel(kairos, tmp_path, pulse):
    """Photons in a window choose a gate of 4 or 8 cycles; the kernel has continued long before."""
    words = pulses(4, 8, 12)
    words += [glut([(0x800 | state << 7, 2 * state, 2 * state + 1) for state in range(2)])]
    words += [gates([0], mode=5), gates([7]), gates([0], mode=5), gates([7, 8])]
    out = run(
        kairos,
        pulse,
        words,
        """
        self.ttl0.output()
        self.pulse0.results_from(1)
        self.pulse0.set_threshold(0, 3)
        self.pulse0.send(self.words)
        delay(20*us)
        for photons in [2, 3]:
            with parallel:
                self.ttl0_counter.gate_rising(2*us)
                with sequential:
                    for i in range(photons):
                        self.ttl0.pulse(100*ns)
                        delay(100*ns)
            delay(5*us)
        for i in range(2):
            self.report("counted", self.ttl0_counter.fetch_count())
        self.core.wait_until_mu(now_mu() + 2000)
""",
    )
    assert out.splitlines()[:2] == ["counted 2", "counted 3"]
    seen = edges(tmp_path, "pulse0_0_enable0")
    assert [(b[0] - a[0]) // 8 for a, b in zip(seen[::2], seen[1::2], strict=True)] == [4, 8]


def test_first_underrun_has_parameter_and_time(kairos, tmp_path, pulse):
    out = run(
        kairos,
        pulse,
        [bypass(Body(tau=100), 0xFF), bypass(Body(tau=100), 0xEF)],
        """
        start = now_mu()
        self.pulse0.send(self.words)
        delay(300*us)
        parameters, time = self.pulse0.first_underrun(0)
        self.report("parameters", parameters)
        self.report("cycles", (time - start) // 8)
        delay(100*us)
        self.report("none", self.pulse0.first_underrun(1)[0])
""",
    )
    assert out.splitlines()[:3] == ["parameters 16", "cycles 106", "none 0"]


def test_comms_core_logs_pulse_errors(kairos, tmp_path, pulse):
    """Once, within 50 ms, also without a request; the kernel still finds the error."""
    database, library = tmp_path / "there.py", BUILD / "gateware/pulse/libkairos_pl.so"
    (tmp_path / "there").mkdir()
    device = Device(tmp_path / "there", gateware=library)
    try:
        database.write_text(pulse.read_text().replace("emulator://pulse", f"{device.host}:{device.port}"))
        body = """
        self.pulse0.send(self.words)
        delay(100*ms)
        self.report("errors", self.pulse0.status() & 0x1FF)
"""
        head = HEAD.replace("WORDS", repr(int32s([bypass(Body(tau=20), 0xFF)]))).replace("        self.pads()\n", "")
        done = kairos.run(body, head=head, device_db=database)
        assert done.stdout.splitlines()[:1] == ["errors 64"], done.stdout + done.stderr
        with Management(device.host, device.ports[1380]) as management:
            assert management.log().count("pulse core: a channel ran out of segments") == 1
    finally:
        device.close()
