"""Phase modes of DDS drivers."""

__all__ = ["PHASE_MODE_ABSOLUTE", "PHASE_MODE_CONTINUOUS", "PHASE_MODE_TRACKING"]

PHASE_MODE_CONTINUOUS = 0
"""the phase accumulator runs on; the phase is an offset to it"""
PHASE_MODE_ABSOLUTE = 1
"""the accumulator is cleared: the phase is that given at the update, or at `ref_time_mu` if given"""
PHASE_MODE_TRACKING = 2
"""the phase is as if the frequency had been constant since `ref_time_mu` (default 0)"""
