"""``kairos version``: which Kairos this is."""

from ..command import Command

COMMAND = Command("print the version", runs="version.show")
