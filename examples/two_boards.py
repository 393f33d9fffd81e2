from artiq.experiment import *


class TwoBoards(EnvExperiment):
    """One kernel pulses outputs of two boards together and times an edge on the other one's input;
    another one, which the satellite runs, answers such an edge faster than the link would allow. A
    recording is played on both boards, each playing its own part.

    The satellite's channels are addressed as if they were local: only the device database says where they are.
    """

    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("ttl4")
        self.setattr_device("ttl5")
        self.setattr_device("sat_ttl0")
        self.setattr_device("sat_ttl4")
        self.setattr_device("sat_ttl5")
        self.setattr_device("sat_ttl6")
        self.setattr_argument("pulses", NumberValue(5, precision=0, step=1, type="int"))

    @subkernel(destination=1)
    def answer(self, after: TInt64) -> TInt64:
        """Answers an edge of a local input with a pulse `after` later; returns the time of the
        edge, in machine units."""
        gate_end = self.sat_ttl0.gate_rising(10 * us)
        edge = self.sat_ttl0.timestamp_mu(gate_end)
        at_mu(edge + after)
        self.sat_ttl5.pulse(1 * us)
        return edge

    @kernel
    def play(self):
        """Records a train of pulses on both boards, and plays it, each board its own part."""
        with self.core_dma.record("train", enable_ddma=True):
            for _ in range(4):
                with parallel:
                    self.ttl5.pulse(500 * ns)
                    self.sat_ttl6.pulse(500 * ns)
                delay(500 * ns)
        handle = self.core_dma.get_handle("train")
        self.core.break_realtime()
        # Time to notify the satellite
        delay(1 * ms)
        self.core_dma.playback_handle(handle)

    @kernel
    def run(self):
        self.core.reset()
        # A pin of the satellite that is both driven and timestamped there
        self.sat_ttl0.output()
        delay(10 * us)
        for i in range(self.pulses):
            with parallel:
                self.ttl4.pulse((i + 1) * 1 * us)
                self.sat_ttl4.pulse((i + 1) * 1 * us + 1 * ns)
            delay(3 * us)
        with parallel:
            gate_end = self.sat_ttl0.gate_rising(4 * us)
            with sequential:
                delay(1 * us)
                rising = now_mu()
                self.sat_ttl0.pulse(2 * us)
        print("the satellite's edge is stamped", self.sat_ttl0.timestamp_mu(gate_end) - rising, "ns after its event")
        # Time for the satellite to receive the library, which starts at the cursor of this kernel
        delay(2 * ms)
        start = now_mu()
        self.answer(1500)
        at_mu(start + 3000)
        self.sat_ttl0.pulse(1 * us)
        edge = subkernel_await(self.answer)
        print("the satellite has answered the edge at", edge - start, "ns within 1500 ns")
        self.play()
