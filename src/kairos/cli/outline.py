"""What the text of a file says of the experiments in it, without executing it: for completion, which
must neither run the user's code nor wait for what it imports."""

import ast
from pathlib import Path

__all__ = ["experiments", "is_experiment_file"]

LARGEST = 1 << 20
"""Bytes of a file that is looked at."""
_DECLARED = ("setattr_argument", "get_argument")


def is_experiment_file(path: Path) -> bool:
    """Return whether a file seems to have an experiment."""
    text = _text(path)
    return "Experiment" in text and "class " in text


def experiments(path: Path) -> dict[str, dict[str, list[str]]]:
    """Return the arguments of the experiments in a file, by class; of each argument the values that
    are listed, of a switch both. What is inherited from other files is not seen."""
    classes = {node.name: node for node in ast.walk(_parsed(path)) if isinstance(node, ast.ClassDef)}
    return {name: _arguments(name, classes, set()) for name in classes if _is_experiment(name, classes, set())}


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST).decode(errors="replace")
    except OSError:
        return ""


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(_text(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _bases(node: ast.ClassDef) -> list[str]:
    return [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]


def _is_experiment(name: str, classes: dict, seen: set[str]) -> bool:
    """Return whether a class inherits from a class that is called one."""
    if name not in classes or name in seen:
        return name.endswith("Experiment") and name not in classes
    seen.add(name)
    return any(_is_experiment(base, classes, seen) for base in _bases(classes[name]))


def _arguments(name: str, classes: dict, seen: set[str]) -> dict[str, list[str]]:
    if name not in classes or name in seen:
        return {}
    seen.add(name)
    found: dict[str, list[str]] = {}
    for base in _bases(classes[name]):
        found |= _arguments(base, classes, seen)
    for node in ast.walk(classes[name]):
        match node:
            case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(value=str(key)), *more]) if (
                method in _DECLARED
            ):
                found[key] = _values(more[0]) if more else []
    return found


def _values(processor: ast.expr) -> list[str]:
    """Return the values that an expression such as ``EnumerationValue(["a", "b"])`` lists."""
    match processor:
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if name == "BooleanValue":
            return ["false", "true"]
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=[ast.List(elts) | ast.Tuple(elts), *_]) if (
            name == "EnumerationValue"
        ):
            return [str(each.value) for each in elts if isinstance(each, ast.Constant)]
    return []
