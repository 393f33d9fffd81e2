"""Traces of the hub, as received by an OpenTelemetry collector: OTLP over gRPC, parsed field by
field here."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from google.protobuf.unknown_fields import UnknownFieldSet

import kairos.hub
from kairos.hub import Program
from tests.support import TIMEOUT
from tests.support.hub import HUB, Hub, board_entry, known
from tests.support.waiting import until

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
BOARD = board_entry(pair=("memory", "size = 8\nregisters = [{ name = 'first', offset = 0 }]"))


def parts(message, *numbers):
    """Return the values at a path of field numbers (opentelemetry/proto/trace/v1/trace.proto)."""
    fields = [field.data for field in UnknownFieldSet(Empty.FromString(message)) if field.field_number == numbers[0]]
    return fields if len(numbers) == 1 else [part for field in fields for part in parts(field, *numbers[1:])]


class Span:
    """Trace, number, parent, name, and text or numeric attributes of a message `Span`."""

    def __init__(self, message):
        self.trace, self.number, self.name = (parts(message, number)[0] for number in (1, 2, 5))
        self.parent = (parts(message, 4) or [b""])[0]
        self.attributes = {}
        for attribute in parts(message, 9):
            value = parts(attribute, 2, 1) + parts(attribute, 2, 3)
            self.attributes[parts(attribute, 1)[0].decode()] = value[0] if value else None


@pytest.fixture
def collector():
    """The received spans, and the address of the collector."""
    spans = []

    def export(request, context):
        spans.extend(Span(message) for message in parts(request, 1, 2, 2))
        return b""

    handlers = {"Export": grpc.unary_unary_rpc_method_handler(export)}
    service = grpc.method_handlers_generic_handler(EXPORT.split("/")[1], handlers)
    server = grpc.server(ThreadPoolExecutor(2), handlers=[service])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield spans, f"http://127.0.0.1:{port}"
    server.stop(0)


def test_call_is_a_span_with_device_span_inside(tmp_path, collector):
    spans, address = collector
    (tmp_path / "memory").write_bytes(bytes(8))
    hub = Hub(tmp_path, {}, entries=BOARD, options=["--traces", address])
    try:
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "rack")
            program = Program()
            program.read("pair/first")
            program.delay(0.01)
            lab["rack"].run(program)
            trace, parent = bytes(range(16)), bytes(range(8))
            client = (("traceparent", f"00-{trace.hex()}-{parent.hex()}-01"),)
            read = lab._channel.unary_unary("/kairos.hub.v1.Registers/Read")
            read(
                lab.message("ReadRequest", device="rack", registers=["pair/first"]).SerializeToString(), metadata=client
            )
    finally:
        # Remaining spans are sent at its end.
        hub.close()
    run = next(span for span in spans if span.name == b"kairos.hub.v1.Registers/Run")
    batch = next(span for span in spans if span.parent == run.number)
    assert batch.name == b"batch" and batch.trace == run.trace
    assert batch.attributes["device"] == b"rack" and batch.attributes["instructions"] == 2
    assert run.attributes["rpc.grpc.status_code"] == 0 and run.attributes["rpc.service"] == b"kairos.hub.v1.Registers"
    below = next(span for span in spans if span.name == b"kairos.hub.v1.Registers/Read" and span.parent)
    assert (below.trace, below.parent) == (trace, parent)
    # Spans are not in the log.
    assert "rpc.service" not in (tmp_path / "hub.log").read_text()


def test_absent_collector_delays_no_call(tmp_path):
    (tmp_path / "memory").write_bytes(bytes(8))
    hub = Hub(tmp_path, {}, entries=BOARD, options=["--traces", "http://127.0.0.1:9"])
    with kairos.hub.connect(hub.address) as lab:
        known(lab, "rack")
        # An export gives up after 10 s: if calls waited for it, there would not be time for so many.
        until(lambda: all(lab["rack"].read("pair/first") == [0] for _ in range(50)))
    hub.close()


def test_traces_of_hub_built_without_them_are_refused(tmp_path):
    (tmp_path / "hub.toml").write_text(BOARD)
    command = [HUB, tmp_path / "hub.toml", "--listen", "127.0.0.1:0", "--traces", "http://127.0.0.1:9"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 1 and "make hub-traces" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not done.stdout
