"""A table as TOML, which the standard library only reads."""

import json
import re

__all__ = ["toml"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(table: dict) -> str:
    """Return the text of a table: plain values first, then each section, nested ones inline."""
    plain = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if not isinstance(value, dict)]
    sections = []
    for name, content in table.items():
        if not isinstance(content, dict):
            continue
        own = {key: value for key, value in content.items() if not isinstance(value, dict)}
        if own or not content:
            sections.append(_section([name], own))
        sections += [_section([name, key], value) for key, value in content.items() if isinstance(value, dict)]
    return "\n".join([*plain, *sections]) + "\n"


def _section(path: list[str], content: dict) -> str:
    lines = [f"{_key(key)} = {_value(value)}" for key, value in content.items()]
    return "\n".join(["", f"[{'.'.join(map(_key, path))}]", *lines])


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {_value(each)}' for key, each in value.items())} }}"
    return repr(value)
