"""Posted outputs, for which the kernel core does not wait: they are correct, and exceptions stay
exact."""

from tests.support.command import HEAD

BODY = """
    @kernel
    def run(self):
        self.core.reset()
        delay(1*ms)
        start = now_mu()
        for i in range(300):
            self.ttl4.set_o(i % 2 == 0)
            delay_mu(1000)
        # Back in time, behind events that are far ahead
        at_mu(start + 500)
        self.ttl5.on()
        at_mu(start + 700)
        self.ttl5.off()
        reached = 0
        at_mu(start + 400000)
        try:
            for i in range(100):
                if i == 70:
                    at_mu(self.core.get_rtio_counter_mu() - 1000)
                self.ttl4.on()
                reached = i
                delay_mu(100)
        except RTIOUnderflow:
            print("underflow after", reached)
        self.core.break_realtime()
        delay(1*ms)
        self.ttl5.pulse(1*us)
        print("end")
"""


def test_posted_outputs_raise_exact_underflow(kairos, tmp_path):
    """The underflow is raised by the 71st call, with 70 earlier events pending or delivered. All
    300, and the later calls with earlier times, reach the pads."""
    trace = tmp_path / "trace.vcd"
    done = kairos.run(BODY, "--vcd", trace)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "underflow after 69" in done.stdout and "end" in done.stdout, done.stdout
    assert trace.read_text().count("\n#") >= 302


WRAPPING = """
    @kernel
    def run(self):
        self.core.reset()
        # Channel 12 throws its outputs away.
        for i in range(31000):
            rtio_output(12 << 8, i)
            delay_mu(64)
        for _ in range(1500):
            self.ttl4.pulse(1*us)
            delay(1*us)
        self.core.wait_until_mu(now_mu())
        print("end")
"""


def test_sequence_numbers_wrap_while_ring_is_full(kairos, tmp_path):
    """The number that follows 32767 is posted while the lanes are full, and 15 requests wait for
    them."""
    trace = tmp_path / "trace.vcd"
    done = kairos.run(WRAPPING, "--vcd", trace, head="from artiq.coredevice.rtio import rtio_output\n" + HEAD)
    assert done.returncode == 0 and "end" in done.stdout, done.stdout + done.stderr
    assert trace.read_text().count("\n#") >= 3000
