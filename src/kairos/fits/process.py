"""A process that fits, so that whoever asks goes on meanwhile: requests and results are lines of JSON.

``python -m kairos.fits.process`` reads one request a line, the arguments of `kairos.fits.fitted`, and
answers each with a line: the result, or ``refused`` with a reason.
"""

import asyncio
import json
import sys
from dataclasses import asdict

from ..errors import UsageError
from . import Fit, fitted

__all__ = ["Fitter", "main"]

TIMEOUT = 20.0
"""Seconds after which a fit is given up, and its process with it."""
IDLE = 300.0
"""Seconds without a request after which the process ends: it holds a hundred megabytes."""
LIMIT = 64 << 20
"""Bytes of a line."""


class Fitter:
    """Fits in a process that is started by the first request, and again after it has ended."""

    def __init__(self):
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    async def fit(self, shape: str, y, x=None, error=None, initial=None, fixed=None) -> Fit:
        """Fit, see `kairos.fits.fitted`; numbers may be in arrays. UsageError."""
        columns = [None if given is None else [float(each) for each in given] for given in (y, x, error)]
        request = json.dumps([shape, *columns, initial, fixed]).encode() + b"\n"
        async with self._turn:
            # A process that has answered may have been ended since, as one that is idle is: that is no failure.
            again = self._process is not None
            try:
                answer = await self._answered(request, again)
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as failure:
                late = isinstance(failure, TimeoutError)
                why = f"it took more than {TIMEOUT:g} s" if late else "its process has ended"
                return Fit(shape, {}, {}, problem=f"the fit has failed: {why}")
        if "refused" in answer:
            raise UsageError(answer["refused"])
        return Fit(**answer)

    async def _answered(self, request: bytes, again: bool) -> dict:
        try:
            return await asyncio.wait_for(self._answer(request), TIMEOUT)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, asyncio.CancelledError) as failure:
            await self.close()
            if not again or isinstance(failure, TimeoutError | asyncio.CancelledError):
                raise
        return await self._answered(request, False)

    async def _answer(self, request: bytes) -> dict:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                __name__,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LIMIT,
                start_new_session=True,
            )
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(request)
        await process.stdin.drain()
        line = await process.stdout.readuntil(b"\n")
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE, process.stdin.close)
        return json.loads(line)

    async def close(self):
        """End the process."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()


def main():
    """Answer requests until the end of standard input."""
    for line in sys.stdin.buffer:
        try:
            answer = asdict(fitted(*json.loads(line)))
        except UsageError as error:
            answer = {"refused": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
