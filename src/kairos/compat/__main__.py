"""``python -m kairos.compat FILE …`` or ``-m MODULE …``: runs a program with Kairos' ``artiq`` and
``sipyco`` modules, such as a controller written for sipyco."""

import runpy
import sys

from . import install

TOOLKITS = ("PyQt", "PySide", "pyqtgraph", "qasync")
"""GUI toolkits used by programs of laboratories, without version numbers."""


def main():
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] == "-m" and len(arguments) < 2):
        sys.exit("usage: python -m kairos.compat FILE [ARGUMENT ...], or -m MODULE [ARGUMENT ...]")
    install()
    module = arguments[0] == "-m"
    sys.argv = arguments[module:]
    try:
        if module:
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(arguments[0], run_name="__main__")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0].rstrip("0123456789") not in TOOLKITS:
            raise
        toolkit = error.name.partition(".")[0]
        sys.exit(f"{sys.argv[0]} draws with {toolkit}, which is not installed: pip install {toolkit}")


main()
