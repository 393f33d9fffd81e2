"""``python -m kairos.lab FOLDER``: runs the laboratory in a folder until it is interrupted; `kairos lab` starts it."""

import asyncio
import logging
import os
import signal
import sys
import time
from pathlib import Path

from .. import compat
from ..cli.printed import print_notice
from ..errors import KairosError
from .forkserver import Forked
from .laboratory import Laboratory
from .settings import Settings

__all__ = ["main"]


async def _run(settings: Settings, forked: Forked, begun: float):
    laboratory = Laboratory(settings, forked)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, laboratory.end)
    try:
        await laboratory.start()
        name = settings.name or settings.folder.name
        port = laboratory.addresses["control"]
        print(f"the laboratory {name} is up at localhost:{port} ({time.time() - begun:.1f} s); Ctrl-C ends it")
        if laboratory.hub is not None and laboratory.hub.address is not None:
            print(f"its page is at {laboratory.hub.url}")
        print("ARTIQ master is now ready.", flush=True)  # programs that start a master wait for this line
        await laboratory.wait()
    finally:
        left = await laboratory.stop()
    if left:
        numbers = ", ".join(map(str, left))
        print(f"run {numbers} goes on; the next 'kairos lab' in {settings.folder} takes over")


def main(folder: str) -> int:
    """Run the laboratory in a folder; returns the exit code."""
    begun = time.time()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    # Suppresses gRPC's own lines about forks, of which every start of a controller would print one.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    compat.install()
    forked = Forked()
    try:
        asyncio.run(_run(Settings.load(Path(folder).resolve()), forked, begun))
    except KairosError as error:
        print_notice(f"kairos: {error}")
        return 1
    finally:
        forked.end()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
