"""``kairos layouts``: arrangements of the page as text files."""

import json
import time
from pathlib import Path

from .. import files
from ..labclient import connect
from .tables import print_table

__all__ = ["export", "list_all", "take"]


def list_all(args):
    """Print the newest version of each layout."""
    found = connect(args.lab).layouts()
    if args.json:
        for layout in found:
            print(json.dumps(layout))
        return
    rows = [
        (each["name"], each["version"], time.strftime("%Y-%m-%d %H:%M", time.localtime(each["time"])), each["person"])
        for each in found
    ]
    print_table(("layout", "version", "saved", "by"), rows, "there is no layout")


def export(args):
    """Write layouts as text files."""
    lab, folder = connect(args.lab), Path(args.output)
    found = [lab.layout(name) for name in args.names or [each["name"] for each in lab.layouts()]]
    files.folder(folder)
    for layout in found:
        path = folder / f"{files.stem_of(layout['name'])}.json"
        content = json.dumps(json.loads(layout["content"]), indent=1, ensure_ascii=False)
        files.write(path, f"{content}\n".encode())
        print(f"wrote {path}")


def take(args):
    """Take layouts from text files."""
    lab = connect(args.lab)
    for file in args.files:
        name = files.name_of(Path(file).stem)
        version = next((each["version"] for each in lab.layouts() if each["name"] == name), 0)
        number = lab.save_layout(name, files.read(file).decode(errors="replace"), version)
        print(f"layout {name} is version {number}")
