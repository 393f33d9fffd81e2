"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.schedule import Worker as Worker
from kairos.schedule import WorkerError as WorkerError
from kairos.schedule import WorkerInternalException as WorkerInternalException
from kairos.schedule import WorkerTimeout as WorkerTimeout
from kairos.schedule import WorkerWatchdogTimeout as WorkerWatchdogTimeout
