"""Errors during a run: underflows that are caught with a new cursor, exceptions of the experiment's own
across calls of the host in both directions, clean-up in finally, and closures
of the host.
"""

from artiq.coredevice.exceptions import RTIOUnderflow as Late
from artiq.experiment import *
from numpy import int64


class IonLost(Exception):
    pass


class Recovery(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.attempts = 0
        self.late = 0
        self.slack_mu = int64(0)

    def reload(self, attempt) -> TInt32:
        if attempt < 3:
            raise IonLost("trap is empty")
        return attempt * 100

    @kernel
    def load(self):
        while True:
            try:
                self.attempts += 1
                loaded = self.reload(self.attempts)
                break
            except IonLost:
                self.core.break_realtime()
                delay(1 * ms)
        return loaded

    @kernel
    def burst(self, n):
        """Output as fast as possible, from a cursor that is not far enough ahead."""
        at_mu(self.core.get_rtio_counter_mu() + 2000)
        for _ in range(n):
            self.ttl4.pulse_mu(8)
            delay_mu(8)

    @kernel
    def run_shots(self) -> TInt32:
        done = 0
        for shot in range(4):
            try:
                if shot % 2 == 0:
                    self.burst(2000)
                else:
                    self.core.break_realtime()
                    self.ttl4.pulse(1 * us)
                    done += 1
            except Late:
                self.late += 1
                self.core.break_realtime()
                self.slack_mu = now_mu() - self.core.get_rtio_counter_mu()
            finally:
                self.ttl4.off()
                delay(1 * us)
        return done

    @kernel
    def give_up(self, reason):
        if reason == "lost":
            raise IonLost("after {0} attempts of {1}", int64(self.attempts), 3)
        raise ValueError

    def run(self):
        offset = 5

        @kernel
        def shifted(self, x):
            return x + offset

        print(self.prepare_device(), shifted(self, 2))
        print(self.load(), self.attempts, self.run_shots(), self.late, 0 < self.slack_mu <= 125000)
        try:
            self.give_up("lost")
        except IonLost as error:
            print(type(error).__name__, error)
        try:
            self.give_up("")
        except ValueError:
            print("ValueError")

    @kernel
    def prepare_device(self):
        self.core.reset()
        return "ready"
