"""Classes of the extension module: errors travel between processes, with whatever caused them."""

import inspect
import pickle

import pytest

from kairos import _native

CLASSES = [
    cls for module in (_native, _native.wire, _native.pulse) for cls in vars(module).values() if inspect.isclass(cls)
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_class_of_the_extension_is_found_by_its_name_in_another_process(cls):
    assert cls.__module__.startswith("kairos._native")
    assert pickle.loads(pickle.dumps(cls)) is cls
