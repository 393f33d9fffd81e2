"""The hub with emulated devices: from Python, from the command line, and when devices or hubs
disappear."""

import copy
import json
import os
import subprocess
import sys
import threading
import time

import grpc
import pytest

import kairos.hub
from kairos.hub import HubError, Program, ProgramError
from tests.support import TIMEOUT
from tests.support.command import run_kairos
from tests.support.hub import HUB, Hub, demo_lab, device_client, fails, known
from tests.support.waiting import until

RESULTS = 16_384
"""Maximum number of result words of a program (docs/batch.md)."""


@pytest.fixture
def lab(hub):
    with demo_lab(hub) as lab:
        yield lab


def test_hub_registers_have_the_names_of_the_gateware(lab):
    registers = lab["demo"].registers
    assert {"rtio", "dma", "initiator"} <= set(dir(registers))
    assert "outputs" in dir(registers.rtio) and registers["rtio/outputs"].width == 16
    outputs = registers.rtio.outputs
    assert outputs.read() == 13 and outputs.readable and not outputs.writable
    assert not registers.initiator.enable.writable
    with pytest.raises(AttributeError, match="no register or block 'rtio/input'"):
        registers.rtio.input  # noqa: B018
    with pytest.raises(AttributeError, match=r"by its `write`: word.write\(5\)"):
        registers.scratch.word = 5
    with pytest.raises(AttributeError):
        registers.scratch.word.value = 5
    assert repr(copy.copy(registers.scratch)) == "<registers of demo: wide, word>"
    with pytest.raises(KeyError, match="demo has no 'ttl99' among its pins: ttl0, ttl1"):
        lab["demo"].pins["ttl99"]


COMPLETE = """
import sys
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.Completer.use_jedi = False
shell.run_cell(f"import kairos.hub; lab = kairos.hub.connect({sys.argv[1]!r})", silent=True)
for text in sys.argv[2:]:
    with provisionalcompleter():
        print(*(each.text.strip(".") for each in shell.Completer.completions(text, len(text))))
"""


def test_names_of_registers_complete_in_a_notebook(hub, lab, tmp_path):
    texts = ['lab["', 'lab["demo"].registers.', 'lab["demo"].registers.rtio.out', 'lab["demo"].registers["rtio/out']
    done = subprocess.run(
        [sys.executable, "-c", COMPLETE, hub.address, *texts],
        env=os.environ | {"IPYTHONDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    devices, blocks, *registers = done.stdout.splitlines()
    assert devices.split() == ["away", "demo"] and {"rtio", "dma", "initiator"} <= set(blocks.split())
    assert registers == ["outputs", "rtio/outputs"]


def test_many_registers_are_read_in_one_call(lab):
    demo = lab["demo"]
    first, counter, again = demo.read("rtio/outputs", "rtio/counter", "rtio/outputs")
    assert first == again == 13 and counter < 2**64


def test_program_with_loops_runs_on_the_device(lab):
    program = Program()
    program.read("rtio/outputs")
    with program.loop(500):
        program.poll("rtio/outputs", 13, 0xFF, timeout=0.001)
        with program.loop(2):
            program.read("initiator/busy")
    program.read("rtio/counter")
    results = lab["demo"].run(program)
    assert len(results) == 1 + 500 * 3 + 2 and results[:4] == [13, 13, 0, 0]


def test_invalid_program_is_refused_with_reason(lab):
    demo = lab["demo"]

    def running(add):
        program = Program()
        add(program)
        return lambda: demo.run(program)

    fails("PERMISSION_DENIED", "firmware's own", running(lambda p: p.write("dma/base", 0)))
    fails("PERMISSION_DENIED", "firmware's own", running(lambda p: p.write("dma/time_offset", 0)))
    fails("NOT_FOUND", "no block 'clock'; the blocks are analyzer, dma", running(lambda p: p.read("clock/none")))
    fails("INVALID_ARGUMENT", "64 bits", running(lambda p: p.write("scratch/wide", 0, step=1)))
    fails("INVALID_ARGUMENT", "does not fit", running(lambda p: p.write("scratch/word", 2**32)))
    fails("NOT_FOUND", "did you mean 'rtio/outputs'?", running(lambda p: p.read("rto/outputs")))
    fails("INVALID_ARGUMENT", "us of delays", running(lambda p: p.delay(100)))

    def deep(program):
        with program.loop(2), program.loop(2), program.loop(2), program.loop(2), program.loop(2):
            program.delay(0)

    fails("INVALID_ARGUMENT", "loops", running(deep))

    def long(program):
        with program.loop(RESULTS + 1):
            program.read("rtio/outputs")

    fails("INVALID_ARGUMENT", f"{RESULTS} results", running(long))
    assert demo.read("rtio/outputs") == [13]


def test_failing_program_names_its_step(lab):
    program = Program()
    program.read("rtio/outputs")
    with program.loop(3):
        program.write("scratch/word", 5, step=1)
        program.poll("scratch/word", 5, 0xFF, timeout=0.01)
    with pytest.raises(ProgramError) as failed:
        lab["demo"].run(program)
    error = failed.value
    assert (error.code, error.step, error.results) == ("TIMEOUT", 3, [13, 5])
    assert "step 3: the poll timed out" in str(error)


def test_registers_are_written_and_read_in_one_call(lab):
    demo = lab["demo"]
    word, wide = demo.registers.scratch.word, demo.registers.scratch.wide
    word.write(0xDEADBEEF)
    wide.write(0x0123_4567_89AB_CDEF)
    assert demo.read("scratch/word", "scratch/wide") == [0xDEADBEEF, 0x0123_4567_89AB_CDEF]
    program = Program()
    program.write("scratch/wide", 2**64 - 2)
    program.read("scratch/wide")
    program.write("scratch/word", 7)
    program.modify("scratch/word", 0xF0, 0xF8)
    program.read("scratch/word")
    assert demo.run(program) == [2**32 - 1, 2**32 - 2, 0xF7]
    fails("INVALID_ARGUMENT", "does not fit into the 32 bits", lambda: word.write(2**32))


def test_absent_names_and_devices_are_reported(lab):
    demo = lab["demo"]
    fails("PERMISSION_DENIED", "is read-only", lambda: demo.registers.rtio.outputs.write(1))
    fails("NOT_FOUND", "its block has rtio/async_error", lambda: demo.read("rtio/none"))
    fails("UNAVAILABLE", "away at 127.0.0.1:9 does not answer", lambda: lab["away"].registers)
    with pytest.raises(KeyError, match="no device 'none'; it has demo, away"):
        lab["none"]
    fails("UNAVAILABLE", "is 'kairos hub' running", lambda: kairos.hub.connect("127.0.0.1:9"))


def test_unknown_message_field_is_rejected_in_one_line(lab):
    demo = lab["demo"]
    program = Program()
    program.read("rtio/outputs")
    program.write("scratch/word", -1)
    fails("INVALID_ARGUMENT", "step 1, write: ", lambda: demo.run(program))
    fails("INVALID_ARGUMENT", "Write: ", lambda: demo.registers.scratch.word.write(-1))
    fails("INVALID_ARGUMENT", "Write: ", lambda: demo.registers.scratch.word.write("high"))
    assert repr(lab).endswith("away, demo>")


def test_watched_registers_are_streamed_in_order(lab):
    readings = lab["demo"].watch("rtio/outputs", "rtio/counter", period=0.02)
    times, values = zip(*(next(readings) for _ in range(5)), strict=True)
    assert sorted(times) == list(times) and {value[0] for value in values} == {13}


def test_each_device_has_an_entry_in_the_health_service(hub, lab):
    pool = lab._pool
    request = kairos.hub.client.GetMessageClass(pool.FindMessageTypeByName("grpc.health.v1.HealthCheckRequest"))
    answer = kairos.hub.client.GetMessageClass(pool.FindMessageTypeByName("grpc.health.v1.HealthCheckResponse"))
    with grpc.insecure_channel(hub.address) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check", request.SerializeToString, response_deserializer=answer.FromString
        )
        assert [check(request(service=f"device/{name}")).status for name in ("demo", "away")] == [1, 2]


def test_command_line_reads_and_writes_registers(hub, lab):
    def run(*words):
        return run_kairos("hub", *words, "--hub", hub.address)

    devices = json.loads(run("ls", "--json").stdout)
    assert [(device["name"], device["connected"]) for device in devices] == [("demo", True), ("away", False)]
    table = run("ls", "demo/rtio").stdout
    assert "rtio/outputs" in table and "dma/base" not in table
    assert len(run("ls", "demo/rtio/outputs").stdout.splitlines()) == 3
    assert json.loads(run("read", "demo/rtio/outputs", "--json").stdout) == {"demo/rtio/outputs": 13}
    block = json.loads(run("read", "demo/rtio", "--json").stdout)
    assert block["demo/rtio/outputs"] == 13 and "demo/rtio/reset" not in block and len(block) > 5
    for words, text, code in (
        (("read", "demo"), "is not a register", 2),
        (("read", "demo/"), "is not a register", 2),
        (("read", "demo/rtio/output"), "did you mean 'rtio/outputs'?", 1),
        (("write", "demo/rtio/output", "1"), "did you mean 'rtio/outputs'?", 1),
        (("watch", "demo/rtio/output"), "did you mean 'rtio/outputs'?", 1),
        (("read", "demo/rtio/reset"), "rtio/reset is reserved for the firmware", 1),
        (("spi", "demo/none", "1"), "no 'none' among its SPI buses", 1),
        (("read", "demo/none"), "no register or block 'none'; it has analyzer, dma", 1),
        (("ls", "demo/rtio/none"), "no register or block 'rtio/none'; it has rtio/async_error", 1),
        (("read", "demo/rtio/none"), "its block has", 1),
        (("write", "demo/rtio/outputs", "1"), "rtio/outputs is read-only", 1),
        (("write", "demo/rtio/outputs", "high"), "'high' is not a number", 2),
        (("ls", "none"), "no device 'none'", 1),
    ):
        done = run(*words)
        assert done.returncode == code and text in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    done = run("watch", "demo/rtio/outputs", "--period", "0.001")
    assert done.returncode == 2 and "0.001 is not a number of at least 0.01" in done.stderr


def test_restarted_device_is_reconnected_by_the_hub(tmp_path, start_device):
    device = start_device(tmp_path)
    address = f"{device.host}:{device.ports[1380]}"
    hub = Hub(tmp_path, {"lab": address})
    try:
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "lab")
            assert lab["lab"].read("rtio/outputs") == [13]
            with device_client(device) as management:
                management.reboot()
            known(lab, "lab")
            until(lambda: answers(lab))
            device.close()
            until(lambda: not lab.devices()[0].connected)
            fails("UNAVAILABLE", "does not answer", lambda: lab["lab"].read("rtio/outputs"))
    finally:
        hub.close()


def test_reboot_during_program_is_reported(tmp_path, start_device):
    """The call reports that its progress is unknown, the next ones that the device is away, until
    it is back."""
    device = start_device(tmp_path)
    hub = Hub(tmp_path, {"lab": f"{device.host}:{device.ports[1380]}"})
    endings = []

    def run(lab):
        program = Program()
        program.write("scratch/word", 1)
        program.poll("scratch/word", 0, 1, timeout=5)
        with pytest.raises(HubError) as failed:
            lab["lab"].run(program)
        endings.append(failed.value)

    try:
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "lab")
            caller = threading.Thread(target=run, args=(lab,))
            caller.start()
            time.sleep(0.3)
            with device_client(device) as management:
                management.reboot()
            caller.join()
            assert [error.code for error in endings] == ["ABORTED"], endings
            assert "during a batch" in str(endings[0])
            until(lambda: answers(lab))
            assert lab["lab"].read("scratch/word") in ([0], [1])
            # Who asks later hears of it, too, until the next batch is done.
            assert "was lost during a batch of 2" in lab["lab"].health()["batch"].text
            both = Program()
            both.write("scratch/word", 1)
            both.write("scratch/wide", 1)
            lab["lab"].run(both)
            assert "batch" not in lab["lab"].health()
    finally:
        hub.close()
        device.close()


def answers(lab):
    try:
        return lab["lab"].read("rtio/outputs") == [13]
    except HubError as error:
        assert error.code in ("UNAVAILABLE", "ABORTED"), error
        return False


def test_missing_settings_file_is_reported_in_one_line(tmp_path):
    done = subprocess.run([HUB, tmp_path / "none.toml"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("kairos: ") and "cannot be read" in done.stderr
