"""Windows for widgets of any toolkit: Qt through any of its bindings, or matplotlib figures."""

import importlib
from pathlib import Path

from ..errors import UsageError
from ..pictures import FORMATS, load, save
from .sources import AppletError

__all__ = ["show"]

PERIOD = 0.05
"""Seconds between two polls for changes."""
BINDINGS = ("PyQt6", "PySide6", "PyQt5", "PySide2")


def show(made, changes, args):
    """Show the widget that `made` constructs from a source, and pass it `changes` until its window
    is closed; or, with ``args.picture``, draw it once."""
    binding = _binding(made.__self__.main_widget_class)
    if args.picture is not None and Path(args.picture).suffix not in FORMATS:
        raise UsageError(f"--picture {args.picture}: the file name of a picture must end with {', '.join(FORMATS)}")
    if binding is not None:
        _show_in_qt(binding, made, changes, args)
    else:
        _show_figure(made, changes, args)


def _binding(cls) -> str | None:
    """Return the Qt binding of a class."""
    return next((root for base in cls.__mro__ if (root := base.__module__.partition(".")[0]) in BINDINGS), None)


def _show_in_qt(binding, made, changes, args):
    widgets, core = (importlib.import_module(f"{binding}.{part}") for part in ("QtWidgets", "QtCore"))
    application = widgets.QApplication.instance() or widgets.QApplication([])
    widget = made(changes.source)
    widget.setWindowTitle(_name(args))
    failure = []

    def show_changes(pass_on=changes.pass_on):
        try:
            pass_on(widget)
        except Exception as error:
            # An exception in a Qt callback would end the process without a message.
            failure.append(error)
            application.quit()

    if args.picture is not None:
        show_changes(changes.pass_on_first)
        if not failure and not widget.grab().save(args.picture):
            raise AppletError(f"{args.picture} cannot be written: Qt draws png only")
    else:
        timer = core.QTimer()
        timer.timeout.connect(show_changes)
        timer.start(int(1000 * max(args.update_delay, PERIOD)))
        widget.show()
        (application.exec if hasattr(application, "exec") else application.exec_)()
    if failure:
        raise failure[0]


def _show_figure(made, changes, args):
    if args.picture is not None:
        load()
    widget = made(changes.source)
    figure = getattr(widget, "figure", None)
    if figure is None:
        kind = type(widget).__name__
        raise AppletError(f"{kind} cannot be shown: derive it from a Qt widget, or give it a matplotlib figure")
    if args.picture is not None:
        changes.pass_on_first(widget)
        save(figure, args.picture, dpi=150)
        return
    from matplotlib import pyplot  # uses the installed toolkit

    if pyplot.get_backend().lower() in ("agg", "pdf", "svg", "ps", "cairo", "template"):
        raise AppletError(
            "no graphical toolkit is installed, or there is no display: pip install PyQt6, or --picture FILE"
        )
    manager = pyplot.figure(_name(args)).canvas.manager
    manager.canvas.figure = figure
    figure.set_canvas(manager.canvas)
    timer = figure.canvas.new_timer(interval=int(1000 * max(args.update_delay, PERIOD)))
    timer.add_callback(lambda: changes.pass_on(widget) and figure.canvas.draw_idle())
    timer.start()
    pyplot.show()


def _name(args) -> str:
    return getattr(args, "title", None) or "applet"
