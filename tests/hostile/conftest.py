"""A device that outlives runs, for experiments on it."""

from tests.e2e.conftest import device_db

__all__ = ["device_db"]
