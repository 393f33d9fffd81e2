"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.compiler.codegen import CortexA9Target as CortexA9Target
