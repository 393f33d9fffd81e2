"""The second half of a core: from the outputs of the channels to their samples, and the counter
that they share. Clock domain sys.

The consumer of the samples is a *sink*: in every cycle it gets `samples_per_cycle` samples of each
channel, the first in time first, signed 16 bits with full scale 32767, and must accept them. They
lag `latency` cycles behind the outputs of the engines, the same for all channels. The pins' levels
(`Channel.enable`, `gpo`) are that much earlier; a sink delays them.
"""

from migen import *

from ..contracts import pulse as facts
from . import crosstalk as compensation
from . import synthesis
from .crosstalk import Crosstalk
from .phase import FeedForward
from .synthesis import Output, Sum

__all__ = ["Samples"]


class Samples(Module):
    """channels: `Channel`s. crosstalk: whether it is compensated, in `crosstalk`, a `Crosstalk`. quadrature: with
    imaginary parts, which crosstalk does not reach.

    `samples`: of each channel, a list for the cycle; `imaginary` likewise, with `quadrature`. `limited`
    (out, as `channels`): one bit for each channel that is beyond full scale. `counter` (out, 40 bits):
    samples since power-up or since `load` (in), which sets it to `value` (in, 40 bits). `forward`:
    `FeedForward`, whose `error` is set; `harmonics`: of each channel, of each tone. `latency`: in cycles,
    without the crosstalk's `zero`.
    """

    def __init__(self, channels, samples_per_cycle, crosstalk=False, quadrature=False):
        self.counter = Signal(facts.VALUE_BITS)
        self.load, self.value = Signal(), Signal(facts.VALUE_BITS)
        self.limited = Signal(len(channels))
        self.submodules.forward = forward = FeedForward(samples_per_cycle)
        self.latency = synthesis.LATENCY + (compensation.LATENCY if crosstalk else 0)

        # # #

        self.sync += self.counter.eq(Mux(self.load, self.value, self.counter + samples_per_cycle))
        complex_ = crosstalk or quadrature
        sums = [Sum(samples_per_cycle, channel, forward, self.counter, complex_) for channel in channels]
        self.submodules += sums
        self.harmonics = [sum_.harmonics for sum_ in sums]
        totals = [sum_.samples for sum_ in sums]
        if crosstalk:
            self.submodules.crosstalk = Crosstalk([(sum_.samples, sum_.imaginary) for sum_ in sums])
            totals = self.crosstalk.sums
        outputs = [Output(total) for total in totals]
        others = [Output(sum_.imaginary) for sum_ in sums] if quadrature else []
        self.submodules += [*outputs, *others]
        self.samples = [output.samples for output in outputs]
        self.imaginary = [output.samples for output in others]
        limited = [output.limited for output in outputs]
        if quadrature:
            limited = [real | other.limited for real, other in zip(limited, others, strict=True)]
        self.comb += self.limited.eq(Cat(*limited))
