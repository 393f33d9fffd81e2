"""What all tests share: examples that Hypothesis makes take longer on a machine that does something else too.

They are the same each time, so that who changes nothing sees no new failure; `make test-long` draws others."""

from hypothesis import HealthCheck, settings

settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("kairos", settings.get_profile("explore"), derandomize=True)
settings.load_profile("kairos")
