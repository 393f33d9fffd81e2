"""``python -m kairos.compat FILE …`` or ``-m MODULE …``: runs a program with the ``artiq`` and ``sipyco`` names of
Kairos, such as a controller that was written for sipyco."""

import runpy
import sys

from . import install


def main():
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] == "-m" and len(arguments) < 2):
        sys.exit("usage: python -m kairos.compat FILE [ARGUMENT ...], or -m MODULE [ARGUMENT ...]")
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


main()
