"""What all tests share: examples that Hypothesis makes take longer on a machine that does something else too."""

from hypothesis import HealthCheck, settings

settings.register_profile("kairos", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kairos")
