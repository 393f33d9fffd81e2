"""``kairos new``: creates an example experiment with its device database, or the settings of a hub."""

import keyword
import sys
from importlib import resources
from pathlib import Path

from .. import files
from ..contracts import hub
from ..devices import DeviceDB
from ..emulator.artifacts import built_database
from ..errors import CommandLineError, UsageError
from . import hub_settings

__all__ = ["filled", "new"]

DATABASE = Path("device_db.py")
OUTPUT = "TTLOut"
"""Class of the device that the experiment switches."""


TAKEN = {"artiq", "sipyco", "kairos", "numpy", "scipy", "h5py", "device_db", "conftest"}
"""Modules that an experiment's folder must not have others in place of."""

BENCHES = {"ion": ("bench.toml", "conftest.py")}
"""Benches by name, with their files. The gateware of a bench has the same name."""


def new(args):
    """Write the files selected by the command line `args` into this directory: an experiment, the
    settings of a hub, or both."""
    if args.name is None and (args.lab or not args.hub):
        raise CommandLineError(
            "nothing to create: 'kairos new NAME' creates an experiment, 'kairos new --hub' creates hub.toml, "
            "'kairos new --lab NAME' a laboratory"
        )
    if args.lab:
        _laboratory(Path(args.name))
        return
    if args.hub and hub_settings.FILE.exists():
        raise UsageError(f"{hub_settings.FILE} already exists: edit it, or move it away")
    if args.name is not None:
        _experiment(args)
    if args.hub:
        _hub(args.device_db)


def _hub(database):
    """Write the settings of a hub for the core devices of a device database."""
    cores = hub_settings.cores(DeviceDB.load(database).entries)
    if not cores:
        raise UsageError(f"{database} has no core device reachable by a hub")
    files.write(
        hub_settings.FILE, filled("hub.toml", {"HUB_PORT": str(hub.PORT), "DEVICES": hub_settings.render(cores)})
    )
    print(f"wrote {hub_settings.FILE}, with {', '.join(core.name for core in cores)}")
    for core in cores:
        if core.emulated:
            print(f"{core.name} is emulated: start it with '{core.start}'")
    print("serve it: kairos hub")
    print("see it: kairos hub ls")


def _experiment(args):
    """Write an experiment, and the files it needs."""
    name = args.name.removesuffix(".py")
    path = Path(f"{name}.py")
    words = [word for word in path.stem.replace("-", "_").split("_") if word]
    title = "".join(word[:1].upper() + word[1:] for word in words)
    if path.stem in TAKEN or path.stem in sys.stdlib_module_names:
        raise CommandLineError(f"{name} is the name of a module that is imported: choose another name")
    if not title.isidentifier() or keyword.iskeyword(title) or path.name != f"{name}.py":
        raise CommandLineError(f"{args.name} is not a valid experiment name: give a word, such as rabi_flop")
    if path.exists():
        raise UsageError(f"{path} already exists: choose another name")
    if args.bench is not None:
        _with_bench(args.bench, path, title, " ".join(words))
        return
    made = not DATABASE.exists()
    if made:
        files.write(DATABASE, built_database(args.variant).read_bytes())
    texts = {"CLASS": title, "NAME": " ".join(words), "OUTPUT": _output()}
    files.write(path, filled("experiment.py", texts))
    print(f"wrote {path}" + (f" and {DATABASE}" if made else f", for the devices of {DATABASE}"))
    print(f"run it: kairos run {path}")


def _with_bench(bench: str, path: Path, title: str, name: str):
    """Write an experiment with its bench, and a test of it."""
    test = Path(f"test_{path.name}")
    written = {Path(file): filled(f"{bench}/{file}", {}) for file in BENCHES[bench]}
    written[DATABASE] = built_database(bench).read_bytes()
    for file in (*written, test):
        if file.exists():
            raise UsageError(f"{file} already exists: a bench needs its own folder")
    written[path] = filled(f"{bench}/experiment.py", {"CLASS": title, "NAME": name})
    written[test] = filled(f"{bench}/test.py", {"EXPERIMENT": path.stem})
    for file, content in written.items():
        files.write(file, content)
    print(f"wrote {', '.join(map(str, sorted(written)))}")
    print(f"run it: kairos run {path} -o results.h5")
    print("see it: kairos plot results.h5 excitation -x length")
    print("test it: pytest")


def _laboratory(folder: Path):
    """Write the folder of a laboratory: its settings, an emulated device with an ion, an experiment."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} already exists: choose another name, or start it with 'kairos lab --lab {folder}'")
    experiment = {"CLASS": "RabiFlop", "NAME": "Rabi flop"}
    for path, content in {
        "device_db.py": built_database("ion").read_bytes(),
        "bench.toml": filled("ion/bench.toml", {}),
        "lab.toml": filled("lab.toml", {"TITLE": folder.resolve().name}),
        "hub.toml": filled("lab_hub.toml", {"HUB_PORT": str(hub.PORT)}),
        "repository/rabi_flop.py": filled("ion/experiment.py", experiment),
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        files.write(folder / path, content)
    print(f"wrote {folder}, with device_db.py, bench.toml, lab.toml, hub.toml and repository/rabi_flop.py")
    print(f"start it: cd {folder} && kairos lab")
    print("then, in another terminal there: kairos submit rabi_flop.py points=10 --wait")
    print(f"or in a browser: kairos hub, then http://127.0.0.1:{hub.PORT}")


def filled(template: str, texts: dict[str, str]) -> bytes:
    """Return a template with words replaced."""
    text = (resources.files(__package__) / "templates" / f"{template}.txt").read_text()
    for word, replacement in texts.items():
        text = text.replace(word, replacement)
    return text.encode()


def _output() -> str:
    """Return the first output of the device database in this directory."""
    entries = DeviceDB.load(DATABASE).entries
    for name, entry in entries.items():
        if isinstance(entry, dict) and entry.get("class") == OUTPUT:
            return name
    raise UsageError(f"{DATABASE} has no device of class {OUTPUT} for the experiment to switch")
