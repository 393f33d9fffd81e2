"""Self-running experiments: ``run()`` at the end of a script is equivalent to ``kairos run`` of this script."""

import sys

from . import main

__all__ = ["run"]


def run(file=None):
    """Run the experiment in `file`, by default the script that Python was started with, with its
    command line.

    Does not return: the script exits with the exit code of ``kairos run``.
    """
    path = file or getattr(sys.modules["__main__"], "__file__", None)
    if path is None:
        raise SystemExit("artiq_run.run() only works in scripts: use 'kairos run FILE'")
    raise SystemExit(main(["run", str(path), *sys.argv[1:]]))
