"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.coredevice.core import *
from kairos.coredevice.core import _render_diagnostic as _render_diagnostic
