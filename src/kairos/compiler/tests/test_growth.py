"""The processor time of a compilation grows with the size of the kernel, and not with its square."""

import gc
import importlib.util
import time

import numpy as np
import pytest

from kairos import compiler
from kairos.compiler import codegen

from .jit import Experiment

GROWTH = 4
MOST = 7
"""Four times the size may take this many times the time: a time that grows with the square is 16 times as long."""
HEAD = "from kairos.language import kernel, rpc\n\n\n"
RUN = "@kernel\ndef run(self):\n    "


def _texts(count):
    return f"{RUN}print(f'{'a{self.number}' * count}')\n", {"number": 1}


def _names(count):
    return f"{RUN}a = self.int32()\n    b = [{'a, ' * count}]\n    print(b)\n", {}


def _calls(count):
    links = (f"@kernel\ndef f{n}():\n    return f{n - 1}() + {n}\n\n\n" for n in range(1, count))
    return f"@kernel\ndef f0():\n    return 0\n\n\n{''.join(links)}{RUN}print(f{count - 1}())\n", {}


def _lists(count):
    return f"{RUN}for one in self.lists:\n        print(one)\n", {"lists": [[n] for n in range(count)]}


def _views(count):
    whole = np.arange(count)
    return f"{RUN}for one in self.views:\n        print(one)\n", {"views": [whole[n:] for n in range(count)]}


def _conditions(count):
    text = "\n    ".join(f"if x == {n}:\n        y = {n}" for n in range(count))
    return f"{RUN}x = self.int32()\n    y = 0\n    {text}\n    print(y)\n", {}


def _chain(count):
    return f"{RUN}x = self.int32()\n    if {' and '.join(f'x != {n}' for n in range(count))}:\n        print(x)\n", {}


def _asserts(count):
    text = "\n    ".join(f"assert x != {n}" for n in range(count))
    return f"{RUN}x = self.int32()\n    {text}\n", {}


SHAPES = {
    "pieces of a text": (150, _texts),
    "names in a list": (700, _names),
    "calls within one another": (100, _calls),
    "lists of the host": (2000, _lists),
    "views of one array": (1000, _views),
    "conditions on a variable": (300, _conditions),
    "comparisons in a condition": (200, _chain),
    "assertions of a variable": (300, _asserts),
}


def _seconds(path, text, attributes):
    """Return the least processor time of two compilations."""
    path.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    taken = []
    for _ in range(2):
        experiment = Experiment(**attributes)
        gc.collect()
        start = time.process_time()
        program, _ = compiler._front_end(module.run, (experiment,), {}, experiment.core, None, False)
        codegen.generate(program)
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_with_size_of_kernel(shape, tmp_path):
    count, program = SHAPES[shape]
    codegen.load()
    few, many = (_seconds(tmp_path / f"growth_{n}.py", *program(n)) for n in (count, GROWTH * count))
    assert many < MOST * few
