"""Commands and laboratories as forks of a process that has imported what they import, which is half of the processor
time of a short command or of a start, thousands of times in a run of the tests.

Such a process is a child of the tests, with folder, environment, arguments, standard streams and signals as if it had
been executed. Whoever sets KAIROS_TEST_EXECUTED, as `make test-long` does, has each executed as a user does.
"""

import atexit
import ctypes
import gc
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache

from .paths import ROOT

__all__ = ["Popen", "run"]

PR_SET_CHILD_SUBREAPER = 36
IMPORTED = {
    "kairos": ("kairos.cli.experiments", "kairos.compiler", "kairos.emulator", "kairos.session", "h5py", "numpy"),
    "kairos.lab": ("kairos.lab.laboratory", "kairos.lab.settings"),
}
"""What is started, as by ``python -m``, and what is imported before."""
STARTUP = ("PYTHON", "LC_", "LANG", "LD_", "OPENBLAS")
"""Beginnings of the variables that an interpreter, or a library, reads once."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Popen(subprocess.Popen):
    """As `subprocess.Popen`. What cannot be forked as asked for is executed."""

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more):
        *_, shell, stdin, to_child, from_child, stdout, from_errors, stderr = more[:9]
        *_, session, group = more[9:]
        words = [] if isinstance(args, str | bytes | os.PathLike) else list(map(os.fspath, args))
        environment = dict(os.environ if env is None else env)
        plain = executable is None and preexec_fn is None and not pass_fds and not shell and group == -1
        if not (plain and words[:2] == [sys.executable, "-m"] and words[2] in IMPORTED and _is_usable(environment)):
            super()._execute_child(args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more)
            return
        own = [number if given == -1 else given for number, given in enumerate((stdin, stdout, stderr))]
        folder = os.path.abspath(os.fspath(cwd) if cwd is not None else os.getcwd())
        os.stat(folder)
        self.pid = _forker(words[2]).start(words[2:], folder, environment, session, own)
        self._child_created = True
        self._close_pipe_fds(stdin, to_child, from_child, stdout, from_errors, stderr)


def run(command, timeout=None, input=None, **options) -> subprocess.CompletedProcess:
    """As `subprocess.run`, with texts of standard output and error."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as process:
        try:
            output, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _is_usable(environment: dict[str, str]) -> bool:
    """Return whether an interpreter of this process's environment may serve for that one."""
    if "KAIROS_TEST_EXECUTED" in os.environ:
        return False
    return _startup(environment) == _startup(os.environ)


def _startup(environment) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(STARTUP)}


@cache
def _forker(module: str) -> "_Forker":
    return _Forker(module)


class _Forker:
    """The tests' end of the process that forks for one of the modules."""

    def __init__(self, module: str):
        self._lock = threading.Lock()
        self._socket, its = socket.socketpair()
        with its:
            command = [sys.executable, "-m", "tests.support.prepared", str(its.fileno()), module]
            self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
        atexit.register(self._end)

    def _end(self):
        self._socket.close()
        self._process.wait()

    def start(self, words: list[str], folder: str, environment: dict, session: bool, streams: list[int]) -> int:
        request = json.dumps([words, folder, environment, session]).encode()
        with self._lock:
            # The process that has forked it ends at once: it becomes a child of this one.
            _adopt(True)
            try:
                socket.send_fds(self._socket, [len(request).to_bytes(4, "little")], streams)
                self._socket.sendall(request)
                return int.from_bytes(_received(self._socket, 4), "little")
            finally:
                _adopt(False)


def _adopt(wanted: bool):
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0):
        raise OSError("processes cannot be adopted")


def _received(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        if not (more := connection.recv(size - len(received))):
            raise EOFError("the process that forks commands has ended")
        received += more
    return received


def _serve(connection: socket.socket):
    """Fork for each request; returns the request in the process that has it to execute, None at the end."""
    while True:
        length, streams, _, _ = socket.recv_fds(connection, 4, 3)
        if not length:
            return None
        request = json.loads(_received(connection, int.from_bytes(length, "little")))
        reading, writing = os.pipe()
        between = os.fork()
        if between == 0:
            child = os.fork()
            if child:
                os.write(writing, child.to_bytes(4, "little"))
                os._exit(0)
            for number in (reading, writing, connection.detach()):
                os.close(number)
            return (*request, streams)
        os.waitpid(between, 0)
        connection.sendall(os.read(reading, 4))
        for number in (reading, writing, *streams):
            os.close(number)


def _stream(number: int, mode: str, errors: str):
    """Return a standard stream as Python makes it."""
    raw = open(
        number, mode + "b", buffering=0 if os.environ.get("PYTHONUNBUFFERED") and mode == "w" else -1, closefd=False
    )
    direct = isinstance(raw, io.RawIOBase)
    return io.TextIOWrapper(
        raw, errors=errors, line_buffering=number == 2 or (not direct and os.isatty(number)), write_through=direct
    )


def _become(words: list[str], folder: str, environment: dict, session: bool, streams: list[int]):
    """Set up this process as if it had been executed like that."""
    for number, given in enumerate(streams):
        os.dup2(given, number)
        os.close(given)
    if session:
        os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder
    sys.argv = ["-m", *words[1:]]
    sys.stdin = sys.__stdin__ = _stream(0, "r", "strict")
    sys.stdout = sys.__stdout__ = _stream(1, "w", "strict")
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace")
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _execute(module: str) -> int:
    """Run a module as the program; returns the exit code."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def main(descriptor: int, module: str):
    """Serve the tests at the other end of the socket `descriptor`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    for name in IMPORTED[module]:
        __import__(name)
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()
    gc.collect()
    gc.freeze()
    request = _serve(socket.socket(fileno=descriptor))
    if request is None:
        os._exit(0)
    _become(*request)
    code = _execute(module)
    # As at the end of a program, but for all objects that would be freed one by one.
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # who has read it is gone
            stream.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
