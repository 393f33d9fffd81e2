"""``kairos logbook``: what people and runs have noted."""

import json
import sys
import time
from pathlib import Path

from .. import files
from ..labclient import connect
from ..terminal_text import plain

__all__ = ["add", "export", "list_all"]


def list_all(args):
    """Print the entries that match, the newest first."""
    found = connect(args.lab).logbook(args.words, args.number or None)
    if args.json:
        for entry in found:
            print(json.dumps(entry))
        return
    for entry in found:
        about = f", run {entry['rid']}" if entry["rid"] is not None else ""
        changed = f", changed by {entry['editor'] or 'somebody'}" if entry["version"] > 1 else ""
        moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry["time"]))
        picture = " [picture]" if entry["has_picture"] else ""
        print(plain(f"{entry['number']}  {moment}  {entry['person'] or 'run'}{about}{changed}{picture}"))
        for line in entry["text"].splitlines():
            print(plain(f"    {line}"))
    if not found:
        print("no entry matches" if args.words else "the logbook is empty")


def add(args):
    """Write an entry, and print its number."""
    text = sys.stdin.read() if args.text == "-" else args.text
    picture = files.read(args.picture) if args.picture else b""
    number = connect(args.lab).write_entry(text, args.run, picture)
    print(json.dumps({"entry": number}) if args.json else f"entry {number}")


def export(args):
    """Write entries as Markdown, with their pictures."""
    lab = connect(args.lab)
    text, pictures = lab.export_logbook(args.words)
    path = Path(args.output)
    folder = path.with_name("logbook")
    files.write(path, text.encode())
    if pictures:
        files.folder(folder)
    for number in pictures:
        files.write(folder / f"{number}.png", lab.entry_picture(number))
    print(f"wrote {path}" + (f" and {len(pictures)} pictures into {folder}" if pictures else ""))
