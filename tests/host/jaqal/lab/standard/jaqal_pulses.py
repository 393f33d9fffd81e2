"""Pulses of a package, in the place where circuits expect them: `from lab.standard usepulses *`."""

from jaqalpaw.ir.pulse_data import PulseData
from jaqalpaw.utilities.datatypes import Loop, Parallel, Sequential, Spline
from jaqalpaw.utilities.exceptions import PulseException
from jaqalpaw.utilities.helper_functions import discretize_frequency

CARRIER = discretize_frequency(197.3e6)
CYCLE = 1 / 409.6e6


class GatePulses:
    """Gates on three ions, of different lengths; without sync, so that phases are those that pauses leave."""

    shift = 1.5e6

    def macro_prepare_all(self, channels):
        """Two pulses on all channels, then one on the first."""
        cool = [PulseData(c, 1e-6, freq0=CARRIER, amp0=20 + c) for c in range(channels)]
        return [cool, Sequential([cool]), [PulseData(0, 0.5e-6, freq1=CARRIER, amp1=10)]]

    def gate_measure_all(self, channels):
        return [PulseData(c, 2e-6, enable_mask=1) for c in range(channels)]

    def gate_Long(self, ion):
        return [PulseData(ion, 5.1e-6, freq0=CARRIER, freq1=CARRIER + self.shift, amp0=(0, 50, 0), fwd_frame0_mask=1)]

    def gate_Constant(self, ion):
        return [PulseData(ion, 1.2e-6, freq0=CARRIER, freq1=CARRIER - self.shift, amp0=30, amp1=40)]

    def gate_Listed(self, ion):
        return [PulseData(ion, 1.3e-6, freq0=[CARRIER, CARRIER + 2e6], freq1=[CARRIER, 5e6, 7e6], amp0=[10, 20, 30])]

    def gate_Swept(self, ion):
        return [PulseData(ion, 1.4e-6, freq0=(CARRIER, CARRIER + 1e6, CARRIER + 3e6), freq1=Spline([1e6, 2e6]))]

    def gate_Both(self, ion):
        return [PulseData(ion, 1.5e-6, freq0=[CARRIER, (CARRIER, CARRIER + 1e6)], freq1=[2e6, (1e6, 2e6), 3e6])]

    def gate_Frame(self, ion, angle):
        if not -360 <= angle <= 360:
            raise PulseException(f"an angle of {angle} degrees")
        return [PulseData(ion, 16 * CYCLE, framerot0=angle, apply_at_end_mask=1)]

    def gate_Last(self, ion):
        """Two pulses, of which the second decides what remains."""
        return [PulseData(ion, 1e-6, freq0=[CARRIER, 1e6]), PulseData(ion, 1e-6, freq0=CARRIER, freq1=[3e6, 4e6])]

    def macro_Echo(self, ion, angle):
        return [self.gate_Listed(ion), Loop([self.gate_Frame(ion, angle), self.gate_Constant(ion)], repeats=3)]

    def macro_Beside(self, one, two):
        return [Parallel([self.gate_Long(one), self.gate_Listed(two)]), self.gate_Constant(two)]
