"""Command-line helpers imported by controller programs."""

import logging

from ..controllers import serve
from ..terminal_text import log_plainly

__all__ = [
    "bind_address_from_args",
    "init_logger_from_args",
    "simple_network_args",
    "simple_server_loop",
    "verbosity_args",
]

LOOPBACK = ["::1", "127.0.0.1"]


def simple_network_args(parser, default_port):
    """Add options for a server's addresses. `default_port`: a number, or (name, purpose, number)
    for each of several ports."""
    ports = [("port", "clients", default_port)] if isinstance(default_port, int) else default_port
    group = parser.add_argument_group("network")
    group.add_argument("--bind", action="append", default=[], metavar="ADDRESS", help="a further address to listen at")
    group.add_argument("--no-localhost-bind", action="store_true", help="listen at the addresses of --bind only")
    for name, purpose, number in ports:
        option = "-p" if isinstance(default_port, int) else f"--port-{name}"
        names = (option, "--port") if isinstance(default_port, int) else (option,)
        group.add_argument(*names, type=int, default=number, help=f"port for {purpose}; default: %(default)s")


def bind_address_from_args(args):
    """Return the addresses to listen on; None for the wildcard."""
    if "*" in args.bind:
        return None
    return [*args.bind, *([] if args.no_localhost_bind else LOOPBACK)]


def verbosity_args(parser):
    """Add options for the log level."""
    group = parser.add_argument_group("verbosity")
    group.add_argument("-v", "--verbose", action="count", default=0, help="log more")
    group.add_argument("-q", "--quiet", action="count", default=0, help="log less")


def init_logger_from_args(args):
    """Configure logging according to the options; by default warnings and errors."""
    level = logging.WARNING + 10 * (args.quiet - args.verbose)
    log_plainly("%(levelname)s:%(name)s:%(message)s", level)


def simple_server_loop(targets, host, port, description=None, allow_parallel=False, *, loop=None, ssl_config=None):
    """Serve until the process is asked to terminate. `loop`, given by old programs, is ignored."""
    serve(targets, host, port, description, allow_parallel, ssl_config=ssl_config)
