"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.schedule import ExperimentDB as ExperimentDB
from kairos.schedule import FilesystemBackend as FilesystemBackend
from kairos.schedule import GitBackend as GitBackend
