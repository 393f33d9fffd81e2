"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.dry_run.timeline import Timeline as Manager
from kairos.dry_run.timeline import manager as manager
