"""Messages and methods of the service, from its description (``protocol.txtpb``), which `make
protocol` generates from ``src/hub/proto``."""

import re
from functools import cache
from pathlib import Path

from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

__all__ = ["message", "services", "unescaped"]

PACKAGE = "kairos.lab.v1"
DESCRIPTION = Path(__file__).with_name("protocol.txtpb")


@cache
def _files() -> list[FileDescriptorProto]:
    # What `buf` adds about modules is not needed here.
    return text_format.Parse(
        DESCRIPTION.read_text(), FileDescriptorSet(), allow_unknown_extension=True, allow_unknown_field=True
    ).file


@cache
def _pool() -> DescriptorPool:
    pool = DescriptorPool()
    for file in _files():
        pool.Add(file)
    return pool


@cache
def _class(name: str):
    return GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


def message(name: str, /, **fields):
    """Return a message of this type. Halves of characters, which texts and the names of files of users may contain but
    messages may not, are escaped as in Python's source."""
    try:
        return _class(name)(**fields)
    except UnicodeEncodeError:
        return _class(name)(**{field: _whole(value) for field, value in fields.items()})


def _whole(value):
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(part) for key, part in value.items()}
    return [_whole(part) for part in value] if isinstance(value, list | tuple) else value


HALF = re.compile(r"\\(ud[89a-f][0-9a-f]{2})")
"""A half of a character, as `message` escapes it."""


def unescaped(text: str) -> str:
    """Return a text with the halves of characters that `message` has escaped, as names of files have them."""
    return HALF.sub(lambda found: chr(int(found[1][1:], 16)), text)


def services() -> list:
    """Return the descriptors of all services."""
    files = (_pool().FindFileByName(file.name) for file in _files() if file.package == PACKAGE)
    return [service for file in files for service in file.services_by_name.values()]
