"""The loop: reading the ADC, computing the filters, writing the synthesisers, as a pipeline. Clock
domain sys.

A sample is taken every T_CYCLE cycles. Each step has a constant length and starts the next one, so
the delay from the falling edge of CNV, at which the inputs are sampled, to the rise of the update
pulse is constant, too: `latency`.

    ADC      |‾‾‾‾‾‾‾ n ‾‾‾‾‾‾‾‾|_|‾‾‾‾‾‾ n+1 ‾‾‾‾‾‾|_
    filter                      |‾ n ‾|_____________|‾ n+1 ‾|__
    DDS                                |‾‾‾‾‾‾‾ n ‾‾‾‾‾‾‾|‾‾‾‾ n+1 ...
    update                                               |‾|
"""

from migen import *

from .adc import READ_CYCLES, SAMPLE_CYCLES, AdcReader
from .dds import UPDATE_CYCLES, DdsWriter
from .format import HALF_WIDTH, T_CYCLE
from .iir import IirFilter, iir_cycles
from .phases import SAMPLES_OF_CYCLE

__all__ = ["Servo", "latency"]


def latency(channels: int) -> int:
    """Cycles from the falling edge of CNV to the rise of the update pulse (with its delay 0)."""
    # The filter starts one cycle after the reader is done
    return READ_CYCLES - SAMPLE_CYCLES + 1 + iir_cycles(channels) + UPDATE_CYCLES


class Servo(Module):
    """controls: a `Control` for each channel. adc: pads of the `AdcReader`, buses: of the
    `DdsWriter`.

    `enable` (in): level; a started sample is always completed. `busy` (out): a sample is in progress. `time`
    (out, 32 bits): 8 for each cycle since the first start, 0 while nothing is in progress.
    `clip` (out, as `controls`): for each channel, Y was clamped; `failed` (out): a sample was not read
    (then all Y are unchanged); both until `clear` (in), one cycle.
    """

    def __init__(self, controls, adc, buses, profile):
        self.enable = Signal()
        self.busy = Signal()
        self.clear = Signal()
        self.clip = Signal(len(controls))
        self.failed = Signal()

        # # #

        self.submodules.adc = adc = AdcReader(*adc)
        self.submodules.dds = dds = DdsWriter(buses, profile)
        self.submodules.iir = iir = IirFilter(controls, adc.x0, adc.x1, dds)
        timer = Signal(max=T_CYCLE)
        # In samples of the synthesisers since the first cycle
        self.time = time = Signal(2 * HALF_WIDTH)
        computing = Signal()
        self.comb += [
            adc.start.eq(self.enable & (timer == 0)),
            dds.start.eq(iir.done),
            iir.start.eq(computing),
            iir.tracker.time.eq(time),
            self.busy.eq((timer != 0) | adc.busy | computing | iir.busy | dds.busy),
        ]
        self.sync += [
            If(adc.start, timer.eq(T_CYCLE - 1)).Elif(timer != 0, timer.eq(timer - 1)),
            If(adc.start | self.busy, time.eq(time + SAMPLES_OF_CYCLE)).Else(time.eq(0)),
            # The results are available one cycle after the reader is done
            computing.eq(adc.done),
            If(adc.done, iir.hold.eq(adc.failed)),
            If(self.clear, self.clip.eq(0), self.failed.eq(0)),
            [If(iir.clip[i], self.clip[i].eq(1)) for i in range(len(controls))],
            If(adc.done & adc.failed, self.failed.eq(1)),
        ]
