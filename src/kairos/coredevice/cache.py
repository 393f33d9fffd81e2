"""The core device's cache: lists of integers that persist between kernels."""

from ..language import kernel
from .parts.channel import CoreDevice
from .parts.firmware import firmware_function

__all__ = ["CoreCache"]

cache_get = firmware_function("cache_get", "key", ("nounwind",))
cache_put = firmware_function("cache_put", "key value")


class CoreCache(CoreDevice):
    """Named lists of 32-bit integers, kept by the core device until it restarts."""

    @kernel
    def get(self, key):
        """Return a copy of the list stored as `key` (str); an empty list if there is none."""
        return cache_get(key)

    @kernel
    def put(self, key, value):
        """Store a copy of `value` (list of int32) as `key`. CacheError if memory is exhausted."""
        cache_put(key, value)
