"""``kairos analyze``: the analyzer's record as a table, as lines of JSON, as a VCD file and as a
picture."""

import io
import json
from pathlib import Path

from .. import files
from ..devices import DeviceDB
from ..errors import KairosError
from ..network import analyzer
from ..waveform.analysis import describe, pins, write_dump
from ..waveform.plot import write_plot
from ..waveform.table import aligned
from .address import address_of
from .outputs import check_picture, table_limit

__all__ = ["analyze"]

COLUMNS = ("time / mu", "slack / mu", "kind", "channel", "device", "address", "data")


def analyze(args):
    """Show the record selected by the command line `args`."""
    if args.plot:
        check_picture("--plot", args.plot)
    limit = table_limit(args.table, "messages")
    entries = DeviceDB.load(args.device_db).entries if Path(args.device_db).exists() or not args.read else {}
    if args.read:
        record = files.read(args.read)
    else:
        record = analyzer.fetch(*address_of(args, analyzer.PORT))
    if args.dump:
        files.write(args.dump, record)
    try:
        dump = analyzer.decode(record)
    except KairosError as error:
        raise KairosError(f"{args.read or 'the device'}: {error}") from None
    if args.vcd:
        text = io.StringIO()
        write_dump(text, dump, entries)
        files.write(args.vcd, text.getvalue().encode())
    if args.plot:
        write_plot(args.plot, pins(dump, entries), title=Path(args.read or "analyzer").name)
    if args.scope:
        # Imported late: it loads NumPy.
        from ..scope.record import write_dump_page

        write_dump_page(args.scope, dump, entries, Path(args.read or "analyzer").name)
    messages = list(describe(dump, entries))
    if args.json:
        for message in messages:
            print(json.dumps(message))
        return
    if limit != 0:
        print(_table(messages, limit))
    if dump.error:
        print("the analyzer could not keep up: messages were lost")
    if dump.total_bytes > 32 * len(messages):
        print(f"the {dump.total_bytes // 32 - len(messages):,} earlier messages were overwritten")


def _table(messages, limit) -> str:
    """Format one line per message, the last `limit` of them."""
    if not messages:
        return "the record is empty: nothing was submitted since it was read last"
    shown = messages if limit is None else messages[len(messages) - min(limit, len(messages)) :]
    lines = aligned([COLUMNS, *(_row(message) for message in shown)])
    if len(shown) < len(messages):
        lines.append(f"... after {len(messages) - len(shown):,} others (--table all shows them)")
    return "\n".join(lines)


def _row(message) -> tuple[str, ...]:
    def number(value, form):
        return "" if value is None else value if isinstance(value, str) else format(value, form)

    return (
        number(message["time"], ","),
        number(message["slack"], ","),
        message["kind"],
        number(message["channel"], "d"),
        message["device"] or "",
        number(message["address"], "#x"),
        number(message["data"], "#x"),
    )
