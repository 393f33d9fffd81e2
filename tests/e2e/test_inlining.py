"""Exceptions in inlined methods: attributed to the call that caused them, with every frame."""

BODY = """
    @kernel
    def run(self):
        self.core.reset()
        delay(1*ms)
        caught = 0
        reached = int64(0)
        for i in range(40):
            late = i % 10 == 7
            try:
                if late:
                    at_mu(self.core.get_rtio_counter_mu() - 1000)
                self.ttl4.on()
                if late:
                    print("not here")
            except RTIOUnderflow:
                caught += i
                reached = self.core.get_rtio_counter_mu() - now_mu()
                self.core.break_realtime()
                delay(1*ms)
            finally:
                delay_mu(2000)
            self.ttl4.off()
            delay_mu(2000)
        print("caught", caught, reached >= 1000)
        self.late_pulse()

    @kernel
    def late_pulse(self):
        delay(-10*ms)
        self.signal()

    @kernel
    def signal(self):
        self.ttl5.on()
"""


def test_exception_of_inlined_method_has_its_frames(kairos):
    done = kairos.run(BODY)
    assert "caught 88 True" in done.stdout and "not here" not in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1 and "RTIOUnderflow" in done.stderr
    lines = done.stderr.splitlines()
    frames = [
        (line.split(", in ")[1].split(" ")[0], lines[n + 1].strip()) for n, line in enumerate(lines) if ", in " in line
    ]
    assert [(name.rpartition(".")[2], text) for name, text in frames[-5:]] == [
        ("set_o", "rtio_output(self.target_o, 1 if o else 0)"),
        ("on", "self.set_o(True)"),
        ("signal", "self.ttl5.on()"),
        ("late_pulse", "self.signal()"),
        ("run", "self.late_pulse()"),
    ]


PULSES = """
    @kernel
    def seconds(self):
        self.core.reset()
        delay(10*ms)
        start = self.core.get_rtio_counter_mu()
        for _ in range(300):
            self.ttl4.pulse(2*us)
            delay(1*us)
        return self.core.get_rtio_counter_mu() - start

    @kernel
    def units(self):
        self.core.reset()
        delay(10*ms)
        start = self.core.get_rtio_counter_mu()
        for _ in range(300):
            self.ttl4.pulse_mu(2000)
            delay_mu(1000)
        return self.core.get_rtio_counter_mu() - start

    def run(self):
        print("times", self.seconds(), self.units())
"""


def test_constant_seconds_are_converted_at_compile_time(kairos):
    done = kairos.run(PULSES)
    assert done.returncode == 0, done.stdout + done.stderr
    seconds, units = map(int, done.stdout.split()[1:3])
    assert 0 < seconds <= units, done.stdout
