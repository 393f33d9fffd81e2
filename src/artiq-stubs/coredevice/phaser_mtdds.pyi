"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.coredevice.phaser_mtdds import *
