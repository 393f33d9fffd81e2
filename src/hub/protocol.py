"""Generates the manual page of the hub's protocol and the record of its promised interface.

``make protocol`` checks and updates both; a test fails if one is stale. Changes that break the
promised interface are refused and need a new package, ``kairos.hub.v2``. Only unreleased parts may
be withdrawn, by first removing the record ``promised.txtpb``.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

FOLDER = Path(__file__).parent
PACKAGE = "kairos.hub.v1"
LABORATORY = "kairos.lab.v1"
PROMISED = "promised.txtpb"
PAGE = FOLDER.parents[1] / "docs" / "hub-api.md"
LABORATORY_PAGE = FOLDER.parents[1] / "docs" / "lab-api.md"
DESCRIPTION = FOLDER.parents[0] / "kairos" / "lab" / "rpc" / "protocol.txtpb"

HEAD = """# The {of} protocol

Generated from `src/hub/proto` by `make protocol`: do not edit.

gRPC package `{package}`, served at the hub's address ([hub.md](hub.md)). See [hub-clients.md](hub-clients.md) for
clients in each language and [hub-security.md](hub-security.md) for roles. The protocol is backward compatible: names,
numbers and types of existing fields, messages and methods do not change. New ones may be added; clients ignore fields
unknown to them.

{intro}
"""

ROLES = {
    "ROLE_UNSPECIFIED": "unspecified",
    "ROLE_LOOK": "view",
    "ROLE_OPERATE": "operate",
    "ROLE_ADMINISTER": "administer",
}
"""Roles as in hub.toml, by their promised names in the protocol."""

OF = {PACKAGE: "hub's", LABORATORY: "laboratory's"}


class Wrong(Exception):
    """The protocol is invalid; the text is the output of `buf`."""


def buf(folder: Path, *words: str) -> bytes:
    """Run `buf` on the protocol in a folder; return its output. Raises Wrong on errors."""
    program = Path(sys.executable).parent / "buf"
    done = subprocess.run([program, *words], cwd=folder, capture_output=True)
    if done.returncode:
        raise Wrong((done.stdout + done.stderr).decode().strip())
    return done.stdout


def check(folder: Path = FOLDER):
    """Check the protocol. Raises Wrong if something is undocumented, unformatted, or breaks the promised interface."""
    buf(folder, "lint")
    buf(folder, "format", "--diff", "--exit-code")
    if (folder / PROMISED).exists():
        buf(folder, "breaking", "--exclude-imports", "--against", PROMISED)
        check_roles(folder)


def check_roles(folder: Path):
    """Check the roles of methods, which `buf` does not know. Raises Wrong if one differs from the
    promised role: that would change the rights of existing tokens."""
    # Interpreted with the promised options, as by an older client.
    now = _roles(_described(folder), _described(folder, PROMISED))
    for name, role in promised_roles(folder).items():
        if now[name] != role:
            raise Wrong(f"{name} asks for the role {now[name]}, and was promised to ask for the role {role}")


def promised_roles(folder: Path = FOLDER) -> dict[str, str]:
    """The role promised for each method, by `package.Service.Method`."""
    promised = _described(folder, PROMISED)
    return _roles(promised, promised)


def promise(folder: Path = FOLDER) -> str:
    """The record of the current protocol, without comments."""
    return _text(folder, PACKAGE, LABORATORY)


def description() -> str:
    """The laboratory's protocol, without comments, from which the laboratory makes its messages."""
    return _text(FOLDER, LABORATORY)


def _text(folder: Path, *packages: str) -> str:
    types = [word for package in packages for word in ("--type", package)]
    return buf(folder, "build", *types, "--exclude-source-info", "-o", "-#format=txtpb").decode()


class _File:
    """A protocol file with its comments."""

    def __init__(self, file: FileDescriptorProto, roles: dict[str, str]):
        self.file, self.roles = file, roles
        self._comments = {
            tuple(place.path): place.leading_comments or "\n".join(place.leading_detached_comments)
            for place in file.source_code_info.location
        }

    def comment(self, *path: int) -> str:
        """The comment before a declaration, given by its path (descriptor.proto, `SourceCodeInfo`), as one line."""
        return " ".join(self._comments.get(path, "").split())

    def intro(self) -> str:
        """The introductory comment of the file."""
        # Number of the field `syntax`.
        return self.comment(12)

    def services(self) -> Iterator[str]:
        """A section for each service."""
        for at, service in enumerate(self.file.service):
            yield f"\n## Service `{service.name}`\n\n{self.comment(6, at)}\n\n"
            yield "| Method | Request | Response | Role | Description |\n|---|---|---|---|---|\n"
            for number, method in enumerate(service.method):
                gives = ("stream of " if method.server_streaming else "") + _link(method.output_type)
                role = self.roles[f"{self.file.package}.{service.name}.{method.name}"]
                text = self.comment(6, at, 2, number)
                yield f"| `{method.name}` | {_link(method.input_type)} | {gives} | {role} | {text} |\n"

    def messages(self) -> Iterator[str]:
        """A section for each message."""
        for at, message in enumerate(self.file.message_type):
            yield from self._message(message, message.name, (4, at))

    def enumerations(self) -> Iterator[str]:
        """A section for each enumeration."""
        for at, enum in enumerate(self.file.enum_type):
            yield f"\n### `{enum.name}`\n\n{self.comment(5, at)}\n\n| Name | Number | Description |\n|---|---|---|\n"
            for number, value in enumerate(enum.value):
                yield f"| `{value.name}` | {value.number} | {self.comment(5, at, 2, number)} |\n"

    def _message(self, message: DescriptorProto, name: str, path: tuple[int, ...]) -> Iterator[str]:
        yield f"\n### `{name}`\n\n{self.comment(*path)}\n"
        entries = {f".{self.file.package}.{name}.{nested.name}": nested for nested in message.nested_type}
        if message.field:
            yield "\n| Field | Number | Type | Description |\n|---|---|---|---|\n"
        for at, field in enumerate(message.field):
            text = self.comment(*path, 2, at)
            if field.HasField("oneof_index") and not field.proto3_optional:
                text += f" (One of `{message.oneof_decl[field.oneof_index].name}`.)"
            yield f"| `{field.name}` | {field.number} | {_type(field, entries)} | {text} |\n"
        for at, nested in enumerate(message.nested_type):
            if not nested.options.map_entry:
                yield from self._message(nested, f"{name}.{nested.name}", (*path, 3, at))


def _type(field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> str:
    entry = entries.get(field.type_name)
    if entry is not None and entry.options.map_entry:
        key, value = (_type(part, {}) for part in entry.field)
        return f"map from {key} to {value}"
    kind = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    name = _link(field.type_name) if field.type_name else f"`{kind}`"
    if field.proto3_optional:
        return f"optional {name}"
    return f"list of {name}" if field.label == FieldDescriptorProto.LABEL_REPEATED else name


def _link(full_name: str) -> str:
    name = full_name.removeprefix(f".{PACKAGE}.").removeprefix(f".{LABORATORY}.")
    return f"[`{name}`](#{name.lower().replace('.', '')})"


def _described(folder: Path, source: str = ".") -> FileDescriptorSet:
    return FileDescriptorSet.FromString(buf(folder, "build", source, "--as-file-descriptor-set", "-o", "-"))


def _roles(files: FileDescriptorSet, known: FileDescriptorSet) -> dict[str, str]:
    """The required role by `package.Service.Method`, interpreted with the options defined in `known`."""
    pool = DescriptorPool()
    for file in known.file:
        pool.Add(file)
    option = pool.FindExtensionByName(f"{PACKAGE}.role")
    options = GetMessageClass(pool.FindMessageTypeByName("google.protobuf.MethodOptions"))
    found = {}
    for file in files.file:
        for service in file.service:
            for method in service.method:
                number = options.FromString(method.options.SerializeToString()).Extensions[option]
                role = option.enum_type.values_by_number[number].name
                found[f"{file.package}.{service.name}.{method.name}"] = ROLES[role]
    return found


def page(folder: Path = FOLDER, package: str = PACKAGE) -> str:
    """The manual's page of a package, in Markdown."""
    files = _described(folder)
    roles = _roles(files, files)
    ours = [_File(file, roles) for file in files.file if file.package == package]
    intro = "\n\n".join(filter(None, (file.intro() for file in ours)))
    kinds = ("", _File.services), ("\n## Messages\n", _File.messages), ("\n## Enumerations\n", _File.enumerations)
    sections = (heading + "".join(part for file in ours for part in made(file)) for heading, made in kinds)
    return HEAD.format(package=package, of=OF[package], intro=intro) + "".join(sections)


def main() -> int:
    """Check, then update; return the exit code."""
    try:
        buf(FOLDER, "format", "--write")
        check()
    except Wrong as wrong:
        print(f"the protocol is refused:\n{wrong}", file=sys.stderr)
        print(f"(No release had it yet? Remove src/hub/{PROMISED}, and try again.)", file=sys.stderr)
        return 1
    (FOLDER / PROMISED).write_text(promise())
    PAGE.write_text(page())
    LABORATORY_PAGE.write_text(page(package=LABORATORY))
    DESCRIPTION.write_text(description())
    return 0


if __name__ == "__main__":
    sys.exit(main())
