"""``kairos new``: writes an experiment that runs, with what it runs on."""

from importlib import resources
from pathlib import Path

from .. import files
from ..devices import DeviceDB
from ..emulator.artifacts import gateware, how_to_get
from ..errors import UsageError

__all__ = ["new"]

DATABASE = Path("device_db.py")
OUTPUT = "TTLOut"
"""The class of the device that the experiment switches."""


def new(args):
    """Write the experiment that the command line `args` names into this folder."""
    name = args.name.removesuffix(".py")
    path = Path(f"{name}.py")
    words = [word for word in path.stem.replace("-", "_").split("_") if word]
    title = "".join(word[:1].upper() + word[1:] for word in words)
    if not title.isidentifier() or path.name != f"{name}.py":
        raise UsageError(f"{args.name} is no name for an experiment: give a word, such as rabi_flop")
    if path.exists():
        raise UsageError(f"{path} is there already: choose another name")
    made = not DATABASE.exists()
    if made:
        built = gateware(args.variant, DATABASE.name)
        if not built.is_file():
            raise UsageError(f"there is no {built}: {how_to_get('gateware', f'VARIANT={args.variant}')}")
        files.write(DATABASE, built.read_bytes())
    output = _output()
    template = (resources.files(__package__) / "templates" / "experiment.py.txt").read_text()
    for word, text in (("CLASS", title), ("NAME", " ".join(words)), ("OUTPUT", output)):
        template = template.replace(word, text)
    files.write(path, template.encode())
    print(f"wrote {path}" + (f" and {DATABASE}" if made else f", for the devices of {DATABASE}"))
    print(f"run it: kairos run {path}")


def _output() -> str:
    """The first output of the device database here."""
    entries = DeviceDB.load(DATABASE).entries
    for name, entry in entries.items():
        if isinstance(entry, dict) and entry.get("class") == OUTPUT:
            return name
    raise UsageError(f"{DATABASE} has no device of class {OUTPUT}, which the experiment would switch")
