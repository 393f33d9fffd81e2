"""Serves the laboratory's methods on its socket. Who may call what, the hub has checked: the socket
is accessible to the laboratory's user only."""

import asyncio
import logging
import os
from pathlib import Path

import grpc
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from ...controllers.wire import LINE_LIMIT
from ...errors import KairosError, UsageError
from .methods import Methods, caller
from .protocol import services
from .streams import Streams

__all__ = ["RpcServer"]

logger = logging.getLogger(__name__)

SOCKET = "rpc.sock"
CLIENT = "kairos-client"
"""Metadata with the name of the client, from the hub."""
LONGEST = 1000
"""Characters of the text of an error: it is sent as a header."""


class RpcServer:
    """The server of a laboratory, whose state is in `folder`."""

    def __init__(self, laboratory, folder: Path):
        self._folder = folder
        self._number: int | None = None
        limits = [("grpc.max_receive_message_length", LINE_LIMIT)]
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0), *limits])
        methods, streams = Methods(laboratory), Streams(laboratory)
        for service in services():
            handlers = {}
            for method in service.methods:
                name = f"{service.name.lower()}_{method.name.lower()}"
                handlers[method.name] = (
                    _stream(method, getattr(streams, name))
                    if method.server_streaming
                    else _call(method, getattr(methods, name))
                )
            self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service.full_name, handlers)])

    async def start(self):
        """Listen on the socket."""
        (self._folder / SOCKET).unlink(missing_ok=True)
        # By its folder, because its whole path may be longer than the name of a socket.
        self._number = os.open(self._folder, os.O_PATH)
        self._server.add_insecure_port(f"unix:/proc/self/fd/{self._number}/{SOCKET}")
        await self._server.start()
        (self._folder / SOCKET).chmod(0o600)

    async def stop(self):
        """End all calls and stop listening."""
        await self._server.stop(None)
        if self._number is not None:
            os.close(self._number)
            self._number = None


class _Malformed(ValueError):
    """Bytes that are no request."""


def _call(method, function):
    async def handle(request, context):
        _identify(context)
        try:
            return await function(_checked(request))
        except Exception as error:
            await _abort(method, error, context)

    return grpc.unary_unary_rpc_method_handler(handle, *_coders(method))


def _stream(method, function):
    async def handle(request, context):
        try:
            async for response in function(_checked(request)):
                yield response
        except asyncio.CancelledError:
            raise
        except Exception as error:
            await _abort(method, error, context)

    return grpc.unary_stream_rpc_method_handler(handle, *_coders(method))


def _coders(method):
    made = GetMessageClass(method.input_type)

    def decoded(data: bytes):
        try:
            return made.FromString(data)
        except DecodeError:  # an error here would be one of the service
            return _Malformed(f"these bytes are no {method.input_type.name}")

    return decoded, GetMessageClass(method.output_type).SerializeToString


def _checked(request):
    if isinstance(request, _Malformed):
        raise request
    return request


def _identify(context):
    names = [value for key, value in context.invocation_metadata() or () if key == CLIENT]
    caller.set(names[0] if names else None)


async def _abort(method, error, context):
    code, text = _status(error)
    if code == grpc.StatusCode.INTERNAL:
        logger.error("%s", method.full_name, exc_info=error)
    # One line, of what a header may contain.
    await context.abort(code, " ".join(text.encode(errors="backslashreplace").decode().split())[:LONGEST])


def _status(error: Exception) -> tuple[grpc.StatusCode, str]:
    if isinstance(error, LookupError):
        said = str(error.args[0]) if error.args else "such thing"
        is_sentence = " is no " in said
        return grpc.StatusCode.NOT_FOUND, said if is_sentence else f"there is no {said}"
    if isinstance(error, UnicodeError):
        return grpc.StatusCode.INVALID_ARGUMENT, "a text of the request has half of a character, which nothing can keep"
    if isinstance(error, KairosError | UsageError | ValueError | TypeError):
        return grpc.StatusCode.INVALID_ARGUMENT, str(error)
    return grpc.StatusCode.INTERNAL, f"{type(error).__name__}: {error}"
