"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.compat.tools import install_hook as install_hook
