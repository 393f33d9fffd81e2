"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.cli.script import run as run
from kairos.experiment.standalone import SingleRun as DummyScheduler
from kairos.experiment.standalone import IgnoredCommands as DummyCCB
