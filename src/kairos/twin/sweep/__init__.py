"""Sweeps: an experiment at every point of a grid, a list or a random sample, each on an emulated laboratory of its own.

| Module | Job |
|---|---|
| :mod:`.space` | the points: what varies, over which values |
| :mod:`.task` | what a worker needs: files, device database, bench |
| :mod:`.worker` | the process that computes points, each in a copy of itself with a copy of a booted device |
| :mod:`.pool` | workers of this computer, replaced when they are lost; :mod:`.cluster`: those of Dask |
| :mod:`.journal` | finished points, so that a sweep that was killed goes on |
| :mod:`.results` | the file: HDF5 that xarray reads |
| :mod:`.run` | a sweep from beginning to end; :mod:`.command`: ``kairos sweep`` |

A point depends only on its number and its values: random numbers of bench, `random` and NumPy are
seeded by them, and its process and device are copies in the state that they have after booting. So
the file is the same, byte for byte, for any number of workers, in any order.
"""

from .run import sweep
from .space import Uniform

__all__ = ["Uniform", "sweep"]
