"""The interfaces of the modules are documented: each public signal is named in the documentation of its class, and the
directions and widths that are stated there are those of the design."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from kairos_gateware import signals

PACKAGE = Path(__file__).parent
CONSTRUCTORS = ("Signal", "Record", "Endpoint", "like")
STATED = re.compile(r"((?:`\w+`(?:, | and )?)+) \((in|out)(?:, (\d+) bits?)?[,;)]")


def assignments(cls: ast.ClassDef):
    """Yields (target, value) of each assignment in a class, for tuples those of its elements."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip(target.elts, node.value.elts, strict=False)
                else:
                    yield target, node.value


def public_signals(cls: ast.ClassDef) -> set[str]:
    """Returns the names of the public attributes of a class that are signals, records or streams."""
    return {
        target.attr
        for target, value in assignments(cls)
        if isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
        and not target.attr.startswith("_")
        and isinstance(value, ast.Call)
        and getattr(value.func, "id", getattr(value.func, "attr", None)) in CONSTRUCTORS
    }


def classes():
    """Yields path and class of each class of the product."""
    for path in sorted(PACKAGE.rglob("*.py")):
        folder = path.relative_to(PACKAGE).parts[0]
        if not path.name.startswith(("test_", "conftest")) and folder not in ("testbenches", "figures"):
            yield from (
                (path, node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)
            )


def test_public_signal_is_named_in_documentation_of_its_class():
    missing = []
    for path, cls in classes():
        quoted = re.findall(r"`([^`]*)`", ast.get_docstring(cls) or "")
        named = {word for text in quoted for word in re.findall(r"\w+", text)}
        missing += [f"{path.relative_to(PACKAGE)}: {cls.name}.{name}" for name in sorted(public_signals(cls) - named)]
    assert not missing, "\n".join(missing)


@pytest.fixture(scope="module")
def ports():
    return signals.ports_of_designs()


def test_stated_direction_and_width_are_those_of_the_design(ports):
    wrong, checked = [], 0
    for cls, found in ports.items():
        actual = {port.name: port for port in found}
        for names, direction, bits in STATED.findall(inspect.getdoc(cls) or ""):
            for port in (actual[name] for name in re.findall(r"`(\w+)`", names) if name in actual):
                checked += 1
                if port.direction not in (direction, "both") or (bits and port.width != int(bits)):
                    wrong.append(f"{cls.__module__}.{cls.__name__}: {port} is stated as {direction} {bits}")
    assert not wrong, "\n".join(wrong)
    assert checked > 100


def test_printed_class_has_its_documentation_and_ports(capsys):
    assert signals.main(["OutputNetwork"]) == 0
    printed = capsys.readouterr().out
    assert "kairos_gateware.rtio.network.OutputNetwork" in printed
    assert re.search(r"collision_channel +16 out", printed)


def test_unknown_class_ends_with_an_error(capsys):
    assert signals.main(["NoSuchModule"]) == 1
    assert "NoSuchModule" in capsys.readouterr().err
