"""The core device's cache: lists of integers that persist between kernels."""

from ..language import TInt32, TList, TNone, TStr, kernel, syscall

__all__ = ["CoreCache"]


@syscall(flags={"nounwind"})
def cache_get(key: TStr) -> TList(TInt32):
    raise NotImplementedError("runs on the core device only")


@syscall
def cache_put(key: TStr, value: TList(TInt32)) -> TNone:
    raise NotImplementedError("runs on the core device only")


class CoreCache:
    """Named lists of 32-bit integers, kept by the core device until it restarts."""

    kernel_invariants = {"core"}

    def __init__(self, dmgr, core_device="core"):
        self.core = dmgr.get(core_device)

    @kernel
    def get(self, key):
        """A copy of the list stored as `key` (str); an empty list if there is none."""
        return cache_get(key)

    @kernel
    def put(self, key, value):
        """Store a copy of `value` (list of int32) as `key`. CacheError if there is no memory left."""
        cache_put(key, value)
