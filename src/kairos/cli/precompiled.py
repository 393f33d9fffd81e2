"""Runs a kernel compiled by `kairos compile` as an experiment, without its source. Such kernels make no calls to
the host; their output goes to the device's log."""

import io
from pathlib import Path

from ..coredevice.core import load_compiler
from ..errors import UsageError
from ..experiment.environment import EnvExperiment

__all__ = ["experiment_of", "is_precompiled"]

_SUFFIXES = (".elf", ".tar")


def is_precompiled(path: str | Path) -> bool:
    """Return whether a file is a library, or an archive of the libraries of several boards, judging
    by its name."""
    return Path(path).suffix in _SUFFIXES


def experiment_of(path: str | Path) -> type[EnvExperiment]:
    """Return the experiment that runs the kernel in the file `path`; UsageError if it is invalid."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    libraries = _libraries(path, content) if Path(path).suffix == ".tar" else {"main.elf": content}
    for name, library in libraries.items():
        if not library.startswith(b"\x7fELF"):
            raise UsageError(
                f"{name if Path(path).suffix == '.tar' else path} is not a kernel written by 'kairos compile'"
            )

    def build(self):
        self.setattr_device("core")

    def run(self):
        self.core.comm.run_kernel(_compiled(libraries), again=True)

    return type(Path(path).stem, (EnvExperiment,), {"build": build, "run": run})


def _libraries(path: str, content: bytes) -> dict[str, bytes]:
    """Return the libraries of an archive, by their names in it."""
    import tarfile  # imported late: it takes 15 ms in every run

    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            members = [(member.name, archive.extractfile(member)) for member in archive if member.isfile()]
            libraries = {name: file.read() for name, file in members if file is not None}
    except tarfile.TarError as error:
        raise UsageError(f"{path} is not a kernel archive: {error}") from None
    if "main.elf" not in libraries:
        raise UsageError(f"{path} is not a kernel archive: it has no main.elf")
    return libraries


def _compiled(libraries: dict[str, bytes]):
    """Build the kernel object that a session runs."""
    compiler = load_compiler()
    subkernels = []
    for name, library in libraries.items():
        if name == "main.elf":
            continue
        number, _, destination = name.removesuffix(".elf").partition(" ")
        if not (number.isdecimal() and destination.isdecimal()):
            raise UsageError(f"the archive contains a library '{name}' where 'NUMBER DESTINATION.elf' was expected")
        subkernels.append(
            compiler.CompiledSubkernel(int(number), int(destination), library, lambda library=library: library)
        )
    main = libraries["main.elf"]
    return compiler.CompiledKernel(
        main, compiler.EmbeddingMap(), {"total": 0.0}, [], lambda: main, True, tuple(subkernels)
    )
