"""The interfaces of the modules are documented: the documentation of a class states direction and width of each public
signal, in the form

    `valid` (in): meaning    `address` (out, 8 bits): meaning    `a` (in, `width` bits), `b` (in, as `a`), `c` (out)

and what is stated there is so in the design. Widths of one bit are left out; a width that depends on parameters is an
expression, the limit of a number ("below `count`") or another signal's. A stream or a record has the direction of its
`valid`, and its fields are described in words.
"""

import ast
import re
from pathlib import Path

import pytest

from kairos_gateware import signals

PACKAGE = Path(__file__).parent
CONSTRUCTORS = ("Signal", "Record", "Endpoint", "like")
STATED = re.compile(r"((?:`\w+`(?:, | and )?)+) \((in|out)\b((?:[^()`]|`[^`]*`)*)\)")
WIDTH = re.compile(r", (?:(\d+) bits?|`[^`]+` bits?|as `[^`]+`|below `[^`]+`)")


def assignments(cls: ast.ClassDef):
    """Yields (target, value) of each assignment in a class, for tuples those of its elements."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip(target.elts, node.value.elts, strict=False)
                else:
                    yield target, node.value


def public_signals(cls: ast.ClassDef) -> dict[str, ast.Call]:
    """Returns the constructor calls of the public attributes of a class that are signals, records or streams."""
    return {
        target.attr: value
        for target, value in assignments(cls)
        if isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
        and not target.attr.startswith("_")
        and isinstance(value, ast.Call)
        and getattr(value.func, "id", getattr(value.func, "attr", None)) in CONSTRUCTORS
    }


def stated(documentation: str) -> dict[str, tuple[str, str]]:
    """Returns direction and further text of each signal for which they are stated."""
    text = " ".join(documentation.split())
    return {
        name: (direction, rest)
        for names, direction, rest in STATED.findall(text)
        for name in re.findall(r"`(\w+)`", names)
    }


def has_width(call: ast.Call) -> bool:
    """Whether the signal that is constructed may have more than one bit."""
    kind = getattr(call.func, "id", getattr(call.func, "attr", None))
    return kind == "like" or (kind == "Signal" and (bool(call.args) or any(k.arg == "max" for k in call.keywords)))


def classes():
    """Yields path and class of each class of the product."""
    for path in sorted(PACKAGE.rglob("*.py")):
        folder = path.relative_to(PACKAGE).parts[0]
        if not path.name.startswith(("test_", "conftest")) and folder not in ("testbenches", "figures"):
            yield from (
                (path, node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)
            )


def undocumented(cls: ast.ClassDef) -> list[str]:
    """Returns the public signals of a class whose direction or width is not stated, and which of them."""
    known = stated(ast.get_docstring(cls) or "")
    found = []
    for name, call in sorted(public_signals(cls).items()):
        if name not in known:
            found.append(f"{cls.name}.{name}: direction, as in `{name}` (in)")
        elif has_width(call) and not WIDTH.match(known[name][1]):
            found.append(f"{cls.name}.{name}: width, as in `{name}` ({known[name][0]}, 8 bits)")
    return found


def test_interface_signal_has_direction_and_width_in_documentation_of_its_class():
    missing = [f"{path.relative_to(PACKAGE)}: {text}" for path, cls in classes() for text in undocumented(cls)]
    assert not missing, "not stated:\n" + "\n".join(missing)


CLASS = '''
class Block(Module):
    """`{}"""

    def __init__(self, width):
        self.valid, self.data = Signal(), Signal(width)
        self.source = stream.Endpoint([("data", 8)])
'''


@pytest.mark.parametrize(
    "documentation, lacking",
    [
        ("valid` (in), `data` (in, `width` bits): a word. `source` (out): words.", []),
        ("valid` (in), `data` (in, 8 bits; not zero), `source` (out,\n    stream): words.", []),
        ("valid`, `data` (in, 8 bits) and `source` (out): words.", []),
        ("valid` (in), `data` (in): a word. `source` (out): words.", ["data: width"]),
        ("valid`: a word. `data` (in, as `valid`). `source`: words.", ["source: direction", "valid: direction"]),
    ],
)
def test_signal_without_direction_or_width_is_found(documentation, lacking):
    (cls,) = ast.parse(CLASS.format(documentation)).body
    assert [text.split(",")[0] for text in undocumented(cls)] == [f"Block.{text}" for text in lacking]


@pytest.fixture(scope="module")
def ports():
    return signals.ports_of_designs()


def test_stated_direction_and_width_are_those_of_the_design(ports):
    wrong, checked = [], 0
    for cls, found in ports.items():
        known = stated(cls.__doc__ or "")
        for port in (port for port in found if port.name in known):
            direction, rest = known[port.name]
            width = WIDTH.match(rest)
            checked += 1
            if port.direction not in (direction, "both") or (width and width[1] and port.width != int(width[1])):
                wrong.append(f"{cls.__module__}.{cls.__name__}: {port} is stated as {direction}{rest}")
    assert not wrong, "\n".join(wrong)
    assert checked > 600


def test_printed_class_has_its_documentation_and_ports(capsys):
    assert signals.main(["OutputNetwork"]) == 0
    printed = capsys.readouterr().out
    assert "kairos_gateware.rtio.network.OutputNetwork" in printed
    assert re.search(r"collision_channel +16 out", printed)


def test_unknown_class_ends_with_an_error(capsys):
    assert signals.main(["NoSuchModule"]) == 1
    assert "NoSuchModule" in capsys.readouterr().err
