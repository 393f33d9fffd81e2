"""The applets that experiments have asked for, so that a page shows them which is opened later."""

from ...controllers.publishing import Publication
from .protocol import message

__all__ = ["Applets"]

KEPT = 64
"""Applets that are kept, the newest ones."""


class Applets:
    """The applets of a laboratory; `take` every message of the channel ``ccb``."""

    def __init__(self):
        self._commands: dict[tuple, str] = {}
        """By groups and name."""
        self.publication = Publication(lambda: self._commands)

    def take(self, channel: str, said: dict):
        """Take a message: create or disable an applet, or a group of applets; others are ignored."""
        if channel != "ccb":
            return
        try:
            changed = self._change(said["service"], *said["args"], **said["kwargs"])
        except TypeError:
            return  # other arguments than those of an applet
        if changed:
            self.publication.changed([])

    def _change(self, service, name="", command="", group=None, **more) -> bool:
        if service == "create_applet":
            key = (*_groups(group), str(name))
            self._commands.pop(key, None)
            self._commands[key] = str(command)
            for oldest in list(self._commands)[:-KEPT]:
                del self._commands[oldest]
        elif service == "disable_applet":
            # Its second argument is the group.
            self._commands.pop((*_groups(group or command), str(name)), None)
        elif service == "disable_applet_group":
            groups = _groups(name)
            for key in [key for key in self._commands if key[: len(groups)] == groups]:
                del self._commands[key]
        else:
            return False
        return True

    def messages(self) -> list:
        """Return the applets as messages."""
        return [
            message("Applet", name=key[-1], groups=key[:-1], command=command) for key, command in self._commands.items()
        ]


def _groups(group) -> tuple[str, ...]:
    if not group:
        return ()
    return (group,) if isinstance(group, str) else tuple(map(str, group))
