"""The laboratory service: a queue of runs that survives, their live data for many viewers, and their history.

docs/lab.md describes its processes, files and rules. :mod:`.journal` is what a run has measured,
:mod:`.worker` the process of a run, :mod:`.scheduler` the order of runs, :mod:`.laboratory` the
service that puts the parts together. For notebooks, `connect` gives the runs of a laboratory as data.
"""

from ..labdata import connect

__all__ = ["connect"]
