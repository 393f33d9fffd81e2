"""A pulse definition written for JaqalPaw, compiled with our compiler by tests."""

from jaqalpaw.ir.pulse_data import PulseData
from jaqalpaw.utilities.datatypes import ClockCycles, Spline
from jaqalpaw.utilities.helper_functions import discretize_frequency, to_clock_cycles

CARRIER = discretize_frequency(200e6)


class Ions:
    """Gates on ions; ion n is driven by channel n."""

    def gate_prepare_all(self, channels):
        return [PulseData(c, 1e-6, waittrig=True, rst_frame_mask=3) for c in range(channels)]

    def gate_measure_all(self, channels):
        return [PulseData(c, 2e-6, enable_mask=1) for c in range(channels)]

    def gate_R(self, ion, phase, share):
        shape = tuple(share * a for a in (0, 30, 80, 100, 80, 30, 0))
        common = {"sync_mask": 1, "fwd_frame0_mask": 1, "fb_enable_mask": 1}
        return [PulseData(ion, 10e-6, CARRIER, phase, shape, **common)]

    def gate_Rz(self, ion, angle):
        return [PulseData(ion, ClockCycles(8), framerot0=angle, apply_at_end_mask=1), PulseData(ion, 5e-9)]

    def gate_Sweep(self, ion):
        return [
            PulseData(
                ion,
                to_clock_cycles(3e-6),
                freq0=[CARRIER, CARRIER + 1e6, CARRIER - 2.5e6],
                amp0=[(10, 60, 20), 33.3, [5, 90]],
                phase0=Spline([0, 200, 400, 600]),
                freq1=5e6,
                amp1=None,
                framerot1=(0, 45, 90),
                inv_frame1_mask=2,
                fwd_frame1_mask=2,
            )
        ]

    def gate_MS(self, one, two, phase):
        shape = (0, 70, 90, 70, 0)
        tones = {"freq0": CARRIER - 1.1e6, "freq1": CARRIER + 1.1e6, "amp0": shape, "amp1": shape}
        return [
            PulseData(one, 50e-6, phase0=phase, phase1=phase, sync_mask=3, **tones),
            PulseData(two, 50e-6, sync_mask=3, **tones),
        ]
