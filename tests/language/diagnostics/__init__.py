"""The compiler's diagnostics for incorrect programs, as shown to the user.

A program is an entry of `PROGRAMS` in a module of this folder: the body of a kernel, or a module
with a class `Exp`. The text file of the same name contains its expected output: the complete
diagnostic, followed by its form in the Language Server Protocol.
`python -m tests.language.diagnostics` regenerates the files after an intended change.
"""

import contextlib
import importlib.machinery
import importlib.util
import json
import pkgutil
import sys
import tempfile
import textwrap
from pathlib import Path

from kairos import compiler
from kairos.compiler.cache import Cache
from kairos.errors import CompileError

FOLDER = Path(__file__).parent
FILE = "exp.py"
RENEW = f"python -m {__name__}"
HEAD = "from tests.language.diagnostics.host import *\n\n\n"
KERNEL = "class Exp(Host):\n    @kernel\n    def run(self):\n"


class Core:
    ref_period = 1e-9


def families():
    """Returns the modules with programs."""
    return sorted(found.name for found in pkgutil.iter_modules([str(FOLDER)]) if found.name not in ("host", "__main__"))


def programs(family):
    return importlib.import_module(f"{__name__}.{family}").PROGRAMS


def source(program):
    """Returns the complete source file of a program."""
    program = textwrap.dedent(program).strip("\n") + "\n"
    return HEAD + (program if "class Exp" in program else KERNEL + textwrap.indent(program, " " * 8))


def found_in(program):
    """Returns the diagnostics of `check` for a program; if there are none, those of its compilation."""
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        path = Path(directory, FILE)
        path.write_text(source(program), encoding="utf-8")
        loader = importlib.machinery.SourceFileLoader("exp", str(path))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("exp", loader))
        sys.modules["exp"] = module
        stack.callback(sys.modules.pop, "exp")
        loader.exec_module(module)
        core = getattr(module, "CORE", Core())
        run, arguments = module.Exp.run, (module.Exp(core), *getattr(module, "ARGUMENTS", ()))
        keywords = getattr(module, "KEYWORDS", {})
        found = compiler.check(run, arguments, keywords, core=core)
        if all(one.warning for one in found):
            try:
                compiler.compile_kernel(run, arguments, keywords, core=core, set_result=print, cache=Cache(None))
                if getattr(module, "ALONE", False):
                    compiler.emit("elf", run, arguments, keywords, core=core)
            except CompileError as error:
                found.append(error.diagnostic)
                assert str(error) == error.diagnostic.text
    return found, directory


def said(program):
    """Returns the output for a program, and the compiler lines that emit it."""
    found, directory = found_in(program)
    lines = []
    for one in found:
        lines += one.text.splitlines()
        protocol = {key: value for key, value in one.lsp().items() if key != "text"}
        lines += ["lsp: " + json.dumps(protocol, ensure_ascii=False), ""]
    text = "\n".join(lines).replace(f"{directory}/", "")
    return text.replace(str(FOLDER.parents[2]), "<kairos>"), {one.origin for one in found}


def snapshot(family):
    """Returns the expected content of a family's text file."""
    parts = [f"# {title}\n\n{said(program)[0]}" for title, program in programs(family).items()]
    return "\n".join(parts).rstrip("\n") + "\n"
