"""A plugin of the hub in Python: a process started by the hub, which serves its methods (docs/hub-plugins.md).

    class Counter:
        def Add(self, request, context):
            self.sum += request.amount
            return {"sum": self.sum}

    plugin.serve({"lab.counter.v1.Counter": Counter()})

Message classes are built from the plugin's protocol file, which hub.toml names: nothing is generated.
"""

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from ..errors import KairosError
from .client import Lab
from .errors import HubError

__all__ = ["lab", "serve", "settings"]

SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"
"""Serialised HealthCheckResponse messages."""
HANGING = 60.0
"""Seconds without progress of any call after which a plugin reports itself as hanging; the hub is
less patient."""


def settings() -> dict:
    """Return the plugin's section of hub.toml: `[plugin.settings]`."""
    return json.loads(_environment("KAIROS_PLUGIN_SETTINGS"))


def lab() -> Lab:
    """Return the laboratory, for a plugin of the layer `control`: devices, and services of other
    plugins."""
    return Lab(_environment("KAIROS_HUB"), token=_environment("KAIROS_HUB_TOKEN"))


def serve(services: dict[str, object], workers: int = 32):
    """Serve until the hub stops this plugin. `services`: by full name an object with a method for
    each method of the protocol, which takes the request and gRPC's context, and returns a message
    or its fields; for a stream, it yields them. A HubError ends the call with its code.

    At most `workers` calls are answered at a time, further ones are refused with
    RESOURCE_EXHAUSTED. If that many are active and none of them makes progress, ends or yields, the
    hub restarts the plugin.
    """
    files = FileDescriptorSet.FromString(Path(_environment("KAIROS_PLUGIN_PROTOCOL")).read_bytes())
    pool = DescriptorPool()
    for file in files.file:
        pool.Add(file)
    calls = _Calls(workers)
    # One more, for health checks.
    server = grpc.server(ThreadPoolExecutor(workers + 1))
    for name, service in services.items():
        handlers = {method.name: _handler(method, service, calls) for method in pool.FindServiceByName(name).methods}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
    health = {"Check": grpc.unary_unary_rpc_method_handler(lambda request, context: calls.health())}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", health),))
    server.add_insecure_port(f"unix:{_environment('KAIROS_PLUGIN_SOCKET')}")
    server.start()
    # The hub holds the other end and closes it to stop this plugin, or when the hub itself exits.
    while sys.stdin.buffer.read(4096):
        pass
    server.stop(grace=1).wait()


class _Calls:
    """The active calls, at most `most` at a time."""

    def __init__(self, most: int):
        self._most, self._count, self._moved = most, 0, threading.Condition()

    @contextmanager
    def one(self, context):
        """Context of one call."""
        with self._moved:
            is_full = self._count == self._most
            self._count += not is_full
        if is_full:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"this plugin answers {self._most} calls at a time")
        try:
            yield
        except HubError as error:
            # Errors of the hub are passed on to the client with the hub's code.
            context.abort(getattr(grpc.StatusCode, error.code, grpc.StatusCode.ABORTED), str(error))
        finally:
            with self._moved:
                self._count -= 1
                self._moved.notify_all()

    def move(self):
        """Signal progress of a call."""
        with self._moved:
            self._moved.notify_all()

    def health(self) -> bytes:
        """Report whether there is room for a call, or a call makes progress."""
        with self._moved:
            is_well = self._count < self._most or self._moved.wait(HANGING)
        return SERVING if is_well else NOT_SERVING


def _handler(method, service, calls: _Calls):
    """Build the gRPC handler for a method of the protocol."""
    work, answer = getattr(service, method.name), GetMessageClass(method.output_type)

    def message(result):
        return answer(**result) if isinstance(result, dict) else result

    def one(request, context):
        with calls.one(context):
            return message(work(request, context))

    def many(request, context):
        with calls.one(context):
            for result in work(request, context):
                yield message(result)
                calls.move()

    kinds = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    return kinds[method.client_streaming, method.server_streaming](
        many if method.server_streaming else one,
        request_deserializer=GetMessageClass(method.input_type).FromString,
        response_serializer=lambda result: result.SerializeToString(),
    )


def _environment(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        text = "this is no plugin of the layer 'control'" if name.startswith("KAIROS_HUB") else "the hub starts plugins"
        raise KairosError(f"there is no {name}: {text} (docs/hub-plugins.md)") from None
