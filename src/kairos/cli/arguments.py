"""The arguments of an experiment, for the help of a command and for completion: found by building the experiment
without devices."""

from ..devices import DeviceDB
from ..errors import KairosError
from ..experiment.arguments import DefaultMissing, EnumerationValue, NumberValue, Processor
from ..experiment.examination import ExamineDatasetMgr, ExamineDeviceMgr, TraceArgumentManager
from ..experiment.scan import Scannable
from ..quantities import Quantity
from ..waveform.table import aligned
from . import precompiled, report

__all__ = ["arguments_of", "described"]


def arguments_of(path: str, class_name: str | None, device_db: str | None = None) -> tuple[str, dict]:
    """Return the class of the experiment in a file, and its arguments: by name (processor, group,
    tooltip). UsageError if there is none."""
    # Imported late: it loads the compiler's Python side and NumPy, which no other help needs.
    from .experiments import choose_class, import_file

    if precompiled.is_precompiled(path):
        return "", {}
    cls = choose_class(import_file(path), class_name)
    entries = {}
    if device_db is not None:
        try:
            entries = DeviceDB.load(device_db).entries
        except KairosError:
            pass  # few experiments look at it, and the help does not need it
    found = TraceArgumentManager()
    with report.user_code():
        cls((ExamineDeviceMgr(entries), ExamineDatasetMgr(), found, {}))
    return cls.__name__, found.requested_args


def described(path: str, class_name: str | None, device_db: str | None) -> str:
    """Return the arguments of the experiment in a file as a table, in the form in which they are
    typed."""
    name, found = arguments_of(path, class_name, device_db)
    if not found:
        return f"{name or path} takes no arguments"
    rows = [("argument", "default", "values", "")]
    for key, (processor, group, tooltip) in found.items():
        about = ": ".join(filter(None, [group, tooltip]))
        rows.append((key, _default(processor), _values(processor), about))
    return f"arguments of {name}, each as ARGUMENT=VALUE:\n" + "\n".join(
        f"  {line}" for line in aligned(rows, 4, False)
    )


def _default(processor: Processor) -> str:
    try:
        value = processor.default()
    except DefaultMissing:
        return "(required)"
    if isinstance(processor, NumberValue):
        return _number(processor, value)
    if isinstance(processor, Scannable):
        return "(a scan)" if not isinstance(value, int | float) else str(value)
    return str(value)


def _number(processor, value) -> str:
    scaled = Quantity(processor.unit, processor.scale).scaled(value)
    return f"{float(f'{float(scaled):.12g}'):g}{processor.unit}" if not isinstance(value, int) else f"{value}"


def _values(processor: Processor) -> str:
    if isinstance(processor, EnumerationValue):
        return " | ".join(map(str, processor.choices))
    if isinstance(processor, NumberValue):
        kind = "integer" if processor.type == "int" else "number"
        ends = ["" if end is None else _number(processor, end) for end in (processor.min, processor.max)]
        limits = f", {ends[0]} to {ends[1]}" if all(ends) else f", from {ends[0]}" if ends[0] else ""
        limits = limits or (f", to {ends[1]}" if ends[1] else "")
        return f"{kind}{f' in {processor.unit}' if processor.unit else ''}{limits}"
    if isinstance(processor, Scannable):
        unit = processor.unit
        return f"scan{f' in {unit}' if unit else ''}: START:STOP:NUMBER, or a number"
    return processor.hint() or type(processor).__name__.removesuffix("Value").lower()
