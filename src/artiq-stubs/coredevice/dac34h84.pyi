"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.coredevice.dac34h84 import *
