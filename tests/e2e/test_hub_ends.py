"""Hubs that are killed, many clients, clients that never read: others are unaffected, and
interruptions are reported."""

import itertools
import random
import re
import struct
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

import kairos.hub
from kairos.hub import HubError, Program
from tests.support.hub import Hub, board_entry, known
from tests.support.waiting import until

SAMPLES = 16 << 20
ENTRY = board_entry(
    pair=("memory", "size = 8\nregisters = [{ name = 'first', offset = 0 }, { name = 'second', offset = 4 }]"),
    samples=("samples", f"size = {SAMPLES}\nbuffer = 'r'"),
)
CLIENTS = 200
SILENT = 40
"""Number of clients that never read."""
GROWTH = 96 << 20
"""Maximum growth of the hub's memory for them in bytes: connection buffers, and a part of the
stream each."""
INSTANTS = 0.02
"""Seconds after the start of a batch within which the hub is killed."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "memory").write_bytes(bytes(8))
    with (tmp_path / "samples").open("wb") as file:
        file.truncate(SAMPLES)
    return tmp_path


@pytest.fixture
def hub(folder):
    hub = Hub(folder, {}, entries=ENTRY)
    yield hub
    hub.close()


def test_hub_ended_as_soon_as_it_listens_ends_orderly(folder):
    for _ in range(30):
        Hub(folder, {}, entries=ENTRY).close()


def pair(number):
    """Return a program that sets both registers to a number, which takes some milliseconds."""
    program = Program()
    program.write("pair/first", number)
    program.delay(0.005)
    program.write("pair/second", number)
    return program


def rounds(instants, enough):
    """Yield the numbers of `instants` rounds, and more until `enough`: the state at a kill is
    random."""
    for number in itertools.count(1):
        if number > instants and enough():
            return
        assert number <= instants + 100
        yield number


@pytest.mark.parametrize("instants", [4, pytest.param(200, marks=pytest.mark.long)])
def test_killed_hub_reports_unfinished_batches(folder, instants):
    choose, seen = random.Random(15), Counter()
    # Half of the time is that of a half-executed batch.
    for number in rounds(instants, lambda: seen["halves"] > instants // 8):
        hub = Hub(folder, {}, entries=ENTRY)
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "rack")
            runs = threading.Thread(target=forever, args=(lab, number))
            runs.start()
            time.sleep(choose.uniform(0, INSTANTS))
            hub.process.kill()
            hub.process.wait()
            hub.process.stdout.close()
            runs.join()
        first, second = struct.unpack("<II", (folder / "memory").read_bytes())
        hub = Hub(folder, {}, entries=ENTRY)
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "rack")
            found = lab["rack"].health()
            seen["halves"] += first != second
            if first != second:
                assert "ended during a batch of 3" in found["batch"].text
            if "batch" in found:
                seen["reported"] += 1
                assert "ended during a batch" in (folder / "hub.log").read_text()
                lab["rack"].run(pair(0))
                assert "batch" not in lab["rack"].health()
        hub.close()
    assert seen["reported"] >= seen["halves"]


def forever(lab, number, device="rack", program=pair):
    """Run batches until the hub exits."""
    try:
        while True:
            lab[device].run(program(number))
            number += 1000
    except HubError as error:
        assert error.code == "UNAVAILABLE", error


def scratch(number):
    """As `pair`, for a core device."""
    program = Program()
    program.write("scratch/word", number)
    program.delay(0.005)
    program.write("scratch/wide", number)
    return program


@pytest.mark.parametrize("instants", [4, pytest.param(200, marks=pytest.mark.long)])
def test_batch_of_killed_hub_is_completed(tmp_path, device, instants):
    """All of it, or nothing; the next hub reports that its end was not observed."""
    choose, seen = random.Random(16), Counter()
    hub = Hub(tmp_path, {"demo": device})
    for number in rounds(instants, lambda: seen["reported"] > instants // 4):
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "demo")
            runs = threading.Thread(target=forever, args=(lab, number, "demo", scratch))
            runs.start()
            time.sleep(choose.uniform(0.01, 0.01 + INSTANTS))
            hub.process.kill()
            hub.process.wait()
            hub.process.stdout.close()
            runs.join()
        hub = Hub(tmp_path, {"demo": device})
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "demo")
            # Executed after anything the device may still be executing.
            word, wide = lab["demo"].read("scratch/word", "scratch/wide")
            assert word == wide
            if "batch" in (found := lab["demo"].health()):
                seen["reported"] += 1
                assert "the hub ended during a batch of 4" in found["batch"].text
                lab["demo"].run(scratch(0))
                assert "batch" not in lab["demo"].health()
    hub.close()


def test_many_clients_are_served_concurrently(hub):
    """Each has its own connection, and all are served."""

    def work(number):
        with kairos.hub.connect(hub.address) as lab:
            return [lab["rack"].read("pair/first", "pair/second") for _ in range(3)]

    with kairos.hub.connect(hub.address) as lab, ThreadPoolExecutor(CLIENTS) as pool:
        known(lab, "rack")
        assert list(pool.map(work, range(CLIENTS))) == [[[0, 0]] * 3] * CLIENTS


def test_client_that_never_reads_blocks_no_other(hub):
    """Streams of samples, and readings every 10 ms, that are never read."""
    with kairos.hub.connect(hub.address) as lab:
        known(lab, "rack")
        requests = {
            "Memory/Read": lab.message("ReadMemoryRequest", device="rack", buffer="samples"),
            "Registers/Watch": lab.message("WatchRequest", device="rack", registers=["pair/first"] * 50, period_ms=10),
        }
        before = resident(hub)
        channels, streams = [], []
        for _ in range(SILENT):
            channels.append(grpc.insecure_channel(hub.address, [("grpc.use_local_subchannel_pool", 1)]))
            for method, request in requests.items():
                stream = channels[-1].unary_stream(f"/kairos.hub.v1.{method}", type(request).SerializeToString)
                streams.append(stream(request))
        # Their data are limited by their windows: memory no longer grows.
        until(lambda: settled(hub))
        grown = resident(hub) - before
        assert grown < GROWTH, f"{grown / SILENT / 1024:.0f} KiB each"
        # A call that had to wait for them would end with its timeout.
        assert all(lab["rack"].read("pair/first") == [0] for _ in range(100))
        for channel in channels:
            channel.close()
    assert streams


def resident(hub):
    status = Path(f"/proc/{hub.process.pid}/status").read_text()
    return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def settled(hub):
    before = resident(hub)
    time.sleep(0.5)
    return resident(hub) <= before + (1 << 20)
