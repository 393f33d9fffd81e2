"""LLVM as the compiler calls it: its errors, copies of a process that is loading it, and what is not imported."""

import os
import subprocess
import sys
import textwrap

import pytest

from kairos.compiler import codegen, llvm

BROKEN = "define i32 @f() {\n  %x = add i32 %y, 1\n  %y = add i32 1, 1\n  ret i32 %x\n}\n"
"""Uses a value before it is computed, which only the verifier notices."""
NEEDLESS = {"ast", "dataclasses", "dis", "hashlib", "inspect", "llvmlite.binding", "numpy", "pathlib", "sysconfig"}


def machine():
    return codegen._target_machine(2)


def test_text_that_is_no_assembly_is_refused_with_the_line():
    with pytest.raises(RuntimeError, match="(?s)parsing error.*:1:1: error.*nonsense"):
        llvm.generate("nonsense", machine(), codegen.passes())


def test_invalid_function_is_refused_by_the_verifier():
    with pytest.raises(RuntimeError, match="does not dominate all uses"):
        llvm.generate(BROKEN, machine(), codegen.passes(), verify=True)


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("options", [{}, {"join": False, "combine": False}])
def test_every_choice_of_passes_makes_code(options, as_text):
    text = f'target triple = "{codegen.TRIPLE}"\ndefine i32 @f(i32 %x) {{\n  ret i32 %x\n}}\n'
    made = llvm.generate(text, machine(), codegen.passes(**options), as_text=as_text)
    assert (b"bx\tlr" in made) if as_text else made.startswith(b"\x7fELF\x01")


def test_unknown_processor_is_an_error_with_its_name():
    with pytest.raises(RuntimeError, match="nowhere"):
        llvm.Machine("nowhere-unknown-linux", "", 2)


def in_python(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="nothing is loaded in advance")
def test_processes_forked_while_llvm_is_loaded_can_use_it():
    said = in_python(
        """
        import os
        from kairos.compiler import codegen
        children = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                os._exit(not codegen.data_layout())
            children.append(child)
        assert not any(os.waitpid(child, 0)[1] for child in children)
        print(codegen.data_layout())
        """
    )
    assert said.strip() == codegen.data_layout()


def test_import_of_the_compiler_needs_few_modules_of_python():
    said = in_python(
        """
        import sys
        before = set(sys.modules)
        import kairos.compiler
        print(*(set(sys.modules) - before))
        """
    )
    assert not NEEDLESS & set(said.split())


def test_process_that_ends_while_it_loads_llvm_waits_for_that(tmp_path):
    """Otherwise the destructors of a library run while its constructors do."""
    program = """
        import os, sys, time
        os.sched_getaffinity = lambda pid: {0, 1}
        from kairos.compiler import codegen

        def load():
            time.sleep(0.3)
            print("loaded")

        codegen.load = load
        codegen.begin_to_load()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "loaded\n", "")
