"""Throughput of the hub, compared with a minimal gRPC server, and an access to a register in mapped
memory compared with a bare load."""

import json
import subprocess
import tempfile
from pathlib import Path

import kairos.hub
from kairos.hub import Program
from tests.support.hub import HUB, Hub, board_entry, known

from .hub import READS, median_us

__all__ = ["PREFIXES", "hub_stream_figures"]

PREFIXES = (
    "hub.bytes_stream_share",
    "hub.bytes_write_share",
    "hub.array_",
    "hub.clients_200_p99_us",
    "hub.board_",
    "endpoint.",
)

SIZE = 64 << 20
"""Bytes of the streamed buffer."""
ENTRY = board_entry(
    clocks=("memory", "size = 4096\nregisters = [{ name = 'status', offset = 0 }]"),
    samples=("samples", f"size = {SIZE}\nbuffer = 'rw'"),
)
MEASURE = HUB.parent / "examples" / "measure"
READ_NS = HUB.parent / "examples" / "read_ns"


def _run(*words) -> dict:
    return json.loads(subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout)


def hub_stream_figures(figures):
    """A board made of files, its hub, and a plain server."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "memory").write_bytes(bytes(4096))
        (folder / "samples").write_bytes(bytes(SIZE))
        hub = Hub(folder, {}, entries=ENTRY)
        plain = subprocess.Popen([MEASURE, "serve"], stdout=subprocess.PIPE, text=True)
        try:
            address = plain.stdout.readline().split()[-1]
            with kairos.hub.connect(hub.address) as lab:
                known(lab, "rack")
                _batch(figures, lab["rack"])
            _streams(figures, _run(MEASURE, "streams", hub.address, address, "rack", "samples"))
            _clients(figures, _run(MEASURE, "clients", hub.address, address, "rack", "clocks/status", 200))
            _one(figures, _run(MEASURE, "clients", hub.address, address, "rack", "clocks/status", 1))
        finally:
            plain.kill()
            plain.wait()
            hub.close()
    _endpoint(figures, _run(READ_NS))


def _streams(figures, found):
    def share(name, key, text):
        ours, plain = found[key]
        source = f"{text}, {ours:.0f} of {plain:.0f} Mbit/s of a plain server, same messages; published: 940 of 1000"
        figures.add(name, ours / plain, "", target=0.9, at_least=True, baseline=1.0, source=source)

    share("hub.bytes_stream_share", "read_bytes", "64 MiB of a board's memory, read as bytes")
    share("hub.bytes_write_share", "write_bytes", "64 MiB of a board's memory, written as bytes")
    for name, key, published in (("stream", "read_words", 456), ("write", "write_words", 479)):
        ours, plain = found[key]
        figures.add(
            f"hub.array_{name}_mbit_s",
            ours,
            "Mbit/s",
            target=published,
            at_least=True,
            baseline=plain,
            source=f"the same as numbers of 32 bits; baseline: a plain server; published, over 1 Gbit/s: {published}",
        )


def _batch(figures, rack):
    one = median_us(rack.registers["clocks/status"].read)
    program = Program()
    with program.loop(READS):
        program.read("clocks/status")
    figures.add(
        "hub.board_batch_1000_us",
        median_us(lambda: rack.run(program)),
        "us",
        target=3 * one,
        baseline=one,
        source=f"{READS} registers of a board in one call, from Python: nothing is emulated; baseline: one of them",
    )


def _clients(figures, found):
    figures.add(
        "hub.clients_200_p99_us",
        found["read"][1],
        "us",
        target=2 * found["echo"][1],
        baseline=found["echo"][1],
        source="a register of a board, 200 clients at once without pauses, 99 % of calls; baseline: as many bare calls",
    )


def _one(figures, found):
    figures.add(
        "hub.board_read_us",
        found["read"][0],
        "us",
        baseline=found["echo"][0],
        source="a register of a board, one client in Rust; baseline: a bare gRPC call; published, over 1 Gbit/s: 274",
    )


def _endpoint(figures, found):
    for name, published in (("read", (482, 326)), ("write", (280, 243))):
        bare = found[f"bare_{name}"]
        figures.add(
            f"endpoint.{name}_ns",
            found[name],
            "ns",
            target=1.1 * bare,
            baseline=bare,
            source="a register in a mapped file, looked up once; baseline: the same load or store without an endpoint; "
            f"published for registers of a Zynq UltraScale+: {published[0]} and {published[1]} bare",
        )
