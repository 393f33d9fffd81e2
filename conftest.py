"""Hypothesis settings shared by all tests: no deadline, as examples take longer on a busy machine.

Examples are the same in every run, so that unchanged code sees no new failure; `make test-long` draws others."""

from hypothesis import HealthCheck, settings

settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("kairos", settings.get_profile("explore"), derandomize=True)
settings.load_profile("kairos")
