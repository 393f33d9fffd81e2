"""Inlined methods and the inlined time cursor give the results of the source; tracebacks still show
every function."""

import io
from types import SimpleNamespace

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings
from hypothesis import strategies as st

from kairos import compiler
from kairos.compiler.tests.jit import Core, Experiment, compile_body
from kairos.coredevice.ttl import TTLOut
from kairos.language import delay_mu, kernel

CHANNELS = {"a": 4, "b": 5}


def ttls():
    devices = SimpleNamespace(get=lambda _name: Core())
    return {name: TTLOut(devices, channel) for name, channel in CHANNELS.items()}


names = st.sampled_from(sorted(CHANNELS))
times = st.integers(-1000, 1 << 33)
simple = st.one_of(
    st.tuples(st.just("delay_mu"), times),
    st.tuples(st.just("at_mu"), times),
    st.tuples(st.sampled_from(["on", "off", "parity"]), names),
    st.tuples(st.sampled_from(["pulse_mu", "pulse"]), names, st.integers(0, 99)),
)
statements = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["parallel", "sequential"]), st.lists(inner, min_size=1, max_size=4)),
        st.tuples(st.just("repeat"), st.lists(inner, min_size=1, max_size=3), st.integers(0, 3)),
    ),
    max_leaves=12,
)


def source(program, indent=""):
    """Return the program as lines of a kernel."""
    for what, *args in program:
        match what:
            case "delay_mu" | "at_mu":
                yield f"{indent}{what}({args[0]})"
            case "on" | "off":
                yield f"{indent}self.{args[0]}.{what}()"
            case "parity":
                yield f"{indent}self.{args[0]}.set_o(now_mu() % 2 == 0)"
            case "pulse_mu":
                yield f"{indent}self.{args[0]}.pulse_mu({args[1]})"
            case "pulse":
                yield f"{indent}self.{args[0]}.pulse({args[1]}e-9)"
            case "repeat":
                yield f"{indent}for _ in range({args[1]}):"
                yield from source(args[0], indent + "    ")
            case _:
                yield f"{indent}with {what}:"
                yield from source(args[0], indent + "    ")


def execute(program, now, outputs):
    """Execute the program in Python: adds (time, target, level) to `outputs` and returns the
    cursor."""
    for what, *args in program:
        target = CHANNELS.get(args[0], 0) << 8 if isinstance(args[0], str) else None
        match what:
            case "delay_mu":
                now += args[0]
            case "at_mu":
                now = args[0]
            case "on" | "off":
                outputs.append((now, target, int(what == "on")))
            case "parity":
                outputs.append((now, target, int(now % 2 == 0)))
            case "pulse_mu" | "pulse":
                outputs += [(now, target, 1), (now + args[1], target, 0)]
                now += args[1]
            case "repeat":
                for _ in range(args[1]):
                    now = execute(args[0], now, outputs)
            case "sequential":
                now = execute(args[0], now, outputs)
            case "parallel":
                start = end = now
                for statement in args[0]:
                    end = max(end, execute([statement], start, outputs))
                now = end
    return now


@settings(max_examples=30, deadline=None)
@given(st.lists(statements, min_size=1, max_size=5))
def test_random_inlined_timelines_give_the_same_outputs(program):
    outputs = []
    now = execute(program, 0, outputs)
    result = compile_body("\n".join(source(program)), **ttls()).run()
    assert result.now == now
    assert result.calls == tuple(("rtio_output", output) for output in outputs)


class Nested(Experiment):
    @kernel
    def run(self):
        for _ in range(3):
            self.signal()

    @kernel
    def signal(self):
        self.a.on()
        delay_mu(5)


@pytest.fixture(scope="module")
def nested():
    return compiler.compile_kernel(Nested(**ttls()).run, (), {}, core=Core(), set_result=None)


def test_output_in_a_loop_is_inlined_completely(nested):
    elf = ELFFile(io.BytesIO(nested.unstripped))
    functions = [
        s.name for s in elf.get_section_by_name(".symtab").iter_symbols() if s["st_info"]["type"] == "STT_FUNC"
    ]
    assert [name.rpartition(".")[2] for name in functions] == ["run", "__modinit__"]


def test_every_inlined_function_is_a_frame(nested):
    elf = ELFFile(io.BytesIO(nested.unstripped))
    text, plt = (elf.get_section_by_name(name) for name in (".text", ".plt"))
    calls = []
    for at in range(0, len(text.data()), 4):
        word = int.from_bytes(text.data()[at : at + 4], "little")
        place = text["sh_addr"] + at
        target = place + 8 + 4 * ((word & 0xFFFFFF) - ((word & 0x800000) << 1))
        if word >> 24 == 0xEB and plt["sh_addr"] <= target < plt["sh_addr"] + plt["sh_size"]:
            calls.append(place + 4)
    (output,) = [frames for frames in map(nested.symbolize, ([call] for call in calls)) if len(frames) > 1]
    assert [frame.function.partition("[")[0].rpartition(".")[2] for frame in output] == ["set_o", "on", "signal", "run"]
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert [lines[frame.line - 1].strip() for frame in output[2:]] == ["self.a.on()", "self.signal()"]
    assert all(frame.file.endswith("ttl.py") for frame in output[:2]) and all(f.column > 0 for f in output)


def test_times_in_seconds_fold_in_loops():
    """A constant passed to `pulse` in a loop is a number of machine units in the code."""
    body = "for _ in range(self.int32()):\n    self.a.pulse(self.length)\n    self.a.pulse(0.5e-6)\nself.a.pulse(1e-6)"
    program = compile_body(body, length=1.5e-6, **ttls())
    functions = {part.split("(", 1)[0]: part for part in str(program._module).split("\ndefine ")[1:]}
    (run,) = (text for name, text in functions.items() if "kernel_from_string_fn" in name)
    assert "call double @round" not in run and ", 1500," in run and ", 500," in run, run
    # The one after the loop is a call.
    assert run.count("DigitalOutput.pulse") == 1, run
