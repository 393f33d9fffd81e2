"""TTL inputs: a channel reads back its own output on the pin; the host drives the pin through the
emulator."""

from artiq.coredevice.exceptions import RTIODestinationUnreachable, RTIOOverflow
from artiq.coredevice.ttl import rtio_input_timestamp
from artiq.experiment import *


class Inputs(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")
        self.setattr_device("ttl1")
        self.setattr_device("ttl4")

    def pad(self, level) -> TInt32:
        from kairos.emulator import acquire

        acquire("emulator://demo").control.request("pad", index=0, level=int(level))
        return 0

    @kernel
    def prepare_pin(self):
        self.core.reset()
        self.ttl0.output()
        delay(1 * us)
        self.ttl0.off()
        delay(1 * us)

    @kernel
    def pulses(self, number):
        delay(1 * us)
        for _ in range(number):
            self.ttl0.pulse(500 * ns)
            delay(500 * ns)

    @kernel
    def edges(self, which):
        self.prepare_pin()
        start = now_mu()
        with parallel:
            if which == 0:
                self.ttl0.gate_rising(10 * us)
            elif which == 1:
                self.ttl0.gate_falling(10 * us)
            else:
                self.ttl0.gate_both(10 * us)
            self.pulses(3)
        end = now_mu()
        number = 0
        stamp = self.ttl0.timestamp_mu(end)
        while stamp >= 0:
            print("edge", which, stamp - start)
            number += 1
            stamp = self.ttl0.timestamp_mu(end)
        print("edges", number)

    @kernel
    def adjacent_gates(self):
        """One gate closes when the next opens: no event is lost, and there is no error."""
        self.prepare_pin()
        with parallel:
            with sequential:
                self.ttl0.gate_rising(1203 * ns)
                self.ttl0.gate_rising(1 * us)
                self.ttl0.gate_falling(1 * us)
            self.pulses(3)
        print("adjacent", self.ttl0.count(now_mu()))

    @kernel
    def samples(self):
        self.prepare_pin()
        self.ttl0.sample_input()
        delay(100 * ns)
        self.ttl0.on()
        delay(100 * ns)
        self.ttl0.sample_input()
        print("samples", self.ttl0.sample_get(), self.ttl0.sample_get())
        self.core.break_realtime()
        print("now", self.ttl0.sample_get_nonrt())

    @kernel
    def watches(self):
        self.prepare_pin()
        self.ttl0.on()
        delay(1 * us)
        started = self.ttl0.watch_stay_on()
        delay(100 * us)
        print("stays on", started, self.ttl0.watch_done())
        self.core.break_realtime()
        started = self.ttl0.watch_stay_on()
        delay(100 * us)
        self.ttl0.pulse(1 * us)
        delay(1 * us)
        print("does not", started, self.ttl0.watch_done())
        self.core.break_realtime()
        started = self.ttl0.watch_stay_on()
        delay(10 * us)
        print("was off", started, self.ttl0.watch_done())
        self.core.break_realtime()
        started = self.ttl0.watch_stay_off()
        delay(10 * us)
        print("stays off", started, self.ttl0.watch_done())

    @kernel
    def driven_by_the_host(self):
        self.core.reset()
        self.ttl0.input()
        delay(10 * us)
        end = self.ttl0.gate_both(50 * ms)
        self.pad(0)
        self.core.wait_until_mu(now_mu() - self.core.seconds_to_mu(49 * ms))
        for _ in range(4):
            self.pad(1)
            self.pad(0)
        print("from the host", self.ttl0.count(end))

    @kernel
    def slack_survives_a_remote_call(self):
        """Outputs queued far ahead do not slow down a remote call."""
        self.core.reset()
        self.ttl4.pulse(100 * ms)
        before = self.core.get_rtio_counter_mu()
        self.pad(0)
        taken = self.core.get_rtio_counter_mu() - before
        print("slack", taken < 1000000)
        delay(1 * ms)
        self.ttl4.pulse(1 * us)

    @kernel
    def flood(self):
        self.prepare_pin()
        with parallel:
            self.ttl0.gate_rising(1 * ms)
            self.pulses(200)
        self.core.wait_until_mu(now_mu())

    @kernel
    def overflow(self):
        """The gap is reported in its place: after the events kept by the ring and the FIFO."""
        self.flood()
        number = 0
        try:
            while self.ttl0.timestamp_mu(now_mu()) >= 0:
                number += 1
        except RTIOOverflow:
            print("overflow after", number)
        print("behind it", self.ttl0.count(now_mu()))

    @kernel
    def leave_events(self):
        """End with events in the ring and, since it is full, in the FIFO."""
        self.prepare_pin()
        with parallel:
            self.ttl0.gate_rising(200 * us)
            self.pulses(100)
        self.core.wait_until_mu(now_mu())

    @kernel
    def drain(self):
        """Read the events left by another kernel, regardless of the timeout."""
        number = 0
        while self.ttl0.timestamp_mu(0) >= 0:
            number += 1
        print("left", number)
        print("then", self.ttl0.count(now_mu()), self.ttl1.count(now_mu()))

    @kernel
    def overflow_again(self):
        self.flood()
        self.ttl0.count(now_mu())

    @kernel
    def two_channels(self):
        """One channel is awaited while events of the other one arrive."""
        self.prepare_pin()
        with parallel:
            self.ttl1.gate_rising(10 * ms)
            self.ttl0.gate_rising(10 * ms)
            self.pulses(3)
        end = now_mu()
        print("two", self.ttl1.count(end), self.ttl0.count(end))

    @kernel
    def reset_empties(self):
        self.core.reset()
        print("after reset", self.ttl0.count(self.core.get_rtio_counter_mu()))

    @kernel
    def no_input(self):
        """A channel without inputs is rejected, even if the timeout has passed."""
        for _ in range(2):
            try:
                rtio_input_timestamp(0, 4)
            except RTIODestinationUnreachable:
                print("no input")

    def run(self):
        for which in range(3):
            self.edges(which)
        self.adjacent_gates()
        self.samples()
        self.watches()
        self.driven_by_the_host()
        self.slack_survives_a_remote_call()
        self.overflow()
        self.leave_events()
        self.drain()
        self.two_channels()
        self.leave_events()
        self.reset_empties()
        self.no_input()
        self.overflow_again()
