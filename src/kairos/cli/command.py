"""Declaration of the subcommands of ``kairos``, and their translation to `argparse`.

Each module of :mod:`kairos.cli.commands` defines ``COMMAND`` and is named after its subcommand.
The command line and the manual page (:mod:`kairos.cli.reference`) are generated from these
declarations; no further registration is needed.
"""

import re
from argparse import SUPPRESS, ArgumentError, ArgumentParser, RawDescriptionHelpFormatter
from importlib import import_module

from ..errors import CommandLineError

__all__ = ["Command", "Option", "Parser", "above", "check_known", "option_meant", "suggestion"]


def suggestion(name: str, known) -> str:
    """Return the most similar of the known names as a question; empty if none is similar."""
    # The dashes of options alone would make short ones similar.
    words = {each.lstrip("-"): each for each in known}
    word = name.lstrip("-")
    from difflib import get_close_matches  # imported late: only what is misspelled needs it

    similar = get_close_matches(word, list(words), 1) or [
        each for each in words if min(len(each), len(word)) > 2 and (each.startswith(word) or word.startswith(each))
    ]
    return f": did you mean {words[similar[0]]}?" if similar else ""


def check_known(name: str, unknown: set[str], requested: set[str]):
    """Raise CommandLineError for arguments that an experiment has not requested."""
    if unknown:
        advice = suggestion(min(unknown), requested) or f"; it takes {', '.join(sorted(requested)) or 'none'}"
        raise CommandLineError(f"{name} has no argument {', '.join(sorted(unknown))}{advice}")


_OTHERWISE = {"host": "--device", "address": "--device", "ip": "--device", "output": "-o", "out": "-o"}
"""Options by what other programs call them."""


def option_meant(name: str, known) -> str:
    """Return the known option that a misspelt one means, as a question; empty if there is none."""
    if not name.startswith("-"):
        return ""
    if (other := _OTHERWISE.get(name.lstrip("-"))) in known:
        return f": did you mean {other}?"
    return suggestion(name, known)


_NEGATIVE = re.compile(r"-\.?\d")


class Parser(ArgumentParser):
    """A parser that suggests a similar word for a misspelt command, choice or option, and takes any negative number
    as a value: -1e3 and -5us, too."""

    def __init__(self, *names, **settings):
        super().__init__(*names, **settings)
        self._negative_number_matcher = _NEGATIVE

    def _check_value(self, action, value):
        choices = action.choices
        if choices is not None and value not in choices and (question := suggestion(str(value), choices)):
            raise ArgumentError(action, f"there is no '{value}'{question}")
        super()._check_value(action, value)

    def options(self) -> list[str]:
        """Return the names of all options, of nested commands too."""
        nested = [
            parser for action in self._actions if isinstance(action.choices, dict) for parser in action.choices.values()
        ]
        return [*self._option_string_actions, *(name for parser in nested for name in parser.options())]


class Option:
    """An option or positional argument; takes the arguments of `ArgumentParser.add_argument`.

    `group` is its heading in the help; `completes` the kind of its values, see
    :mod:`kairos.cli.candidates`, if a shell can complete them.
    """

    def __init__(self, *names: str, help: str, group: str | None = None, completes: str | None = None, **settings):
        self.names = names
        self.group = group
        self.completes = completes
        self.settings = {**settings, "help": help}

    def declared(self) -> dict:
        """Return the arguments for `ArgumentParser.add_argument`: one that may be empty is not missing."""
        may_be_empty = self.settings.get("nargs") == "*" and "choices" not in self.settings
        return {**({"default": []} if may_be_empty else {}), **self.settings}

    @property
    def takes_rest(self) -> bool:
        """Whether it takes all words that are left."""
        return not self.names[0].startswith("-") and self.settings.get("nargs") in ("*", "+")

    @property
    def takes_value(self) -> bool:
        """Whether the next word is its value, unless that follows an equals sign."""
        return self.settings.get("action", "store") in ("store", "append") and self.settings.get("nargs") != "?"


def above(named: str):
    """Return a function ``package:module.function``, which may be in a package above this one."""
    package, _, function = named.partition(":")
    module, _, name = function.rpartition(".")
    return getattr(import_module(f"kairos.{package}.{module}"), name)


def _is_of(line: str, path: str) -> bool:
    """Whether an example contains the words of a subcommand in order, with options possibly in between."""
    words = iter(line.split())
    return all(word in words for word in path.split())


class Command:
    """A subcommand. It either runs a function or has `tools`, nested subcommands shown as `kind` in
    the help; `default` is the nested subcommand used if none is given.

    `runs` names the function, ``module.function`` in :mod:`kairos.cli`, or in a package above it
    ``package:module.function``. It is imported only when called, since importing the dependencies of
    a subcommand takes up to 0.5 s. It takes the parsed command line and returns the exit code, or
    None for 0. `examples` are command lines shown in the help.
    """

    def __init__(
        self,
        help: str,
        *options: Option,
        runs: str = "",
        tools: dict | None = None,
        kind: str = "TOOL",
        default: str = "",
        examples: tuple[str, ...] = (),
    ):
        self.help = help
        self.options = options
        self.runs = runs
        self.tools: dict[str, Command] = tools or {}
        self.kind = kind
        self.default = default
        self.examples = examples

    def completed(self, words: list[str]) -> list[str]:
        """The words after its name, with the default tool inserted if they name none."""
        if not self.default or self._names_tool(words):
            return words
        return [self.default, *words]

    def _names_tool(self, words: list[str]) -> bool:
        """Return whether the first word that is no option of its own, nor the value of one, is a tool or asks for
        help."""
        own = {name: option for option in self.options for name in option.names}
        rest = iter(words)
        for word in rest:
            option = own.get(word.partition("=")[0])
            if option is None:
                return word in ("-h", "--help") or not word.startswith("-")
            if "=" not in word and option.takes_value:
                next(rest, None)
        return False

    def description(self) -> str:
        """The description, as a sentence."""
        alone = f" Without a subcommand: same as '{self.default}'." if self.default else ""
        return f"{self.help[0].upper()}{self.help[1:]}.{alone}"

    def function(self):
        """Return the function that the subcommand runs."""
        return above(self.runs if ":" in self.runs else f"cli:{self.runs}")

    def examples_of(self, path: str, others: tuple[str, ...]) -> tuple[str, ...]:
        """Its examples, and those in `others` (examples of the enclosing commands) that match its words `path`."""
        return (*self.examples, *(line for line in others if _is_of(line, path)))

    def add_to(
        self,
        parsers,
        name: str,
        path: str = "",
        others: tuple[str, ...] = (),
        outer: tuple["Option", ...] = (),
    ):
        """Add a parser called `name` to the result of `ArgumentParser.add_subparsers`. `path` and
        `others`: words and examples of the enclosing commands; `outer`: their options, which may
        also follow its name."""
        path = f"{path} {name}"
        examples = self.examples_of(path, others)
        shown = "examples:\n" + "".join(f"  {line}\n" for line in examples) if examples else None
        parser = parsers.add_parser(
            name,
            help=self.help,
            description=self.description().replace("%", "%%"),
            epilog=shown,
            formatter_class=RawDescriptionHelpFormatter,
        )
        groups = {None: parser}
        for option in self.options:
            if option.group not in groups:
                groups[option.group] = parser.add_argument_group(option.group)
            action = groups[option.group].add_argument(*option.names, **option.declared())
            action.completes = option.completes  # type: ignore[attr-defined]
        taken = {own for option in self.options for own in option.names}
        for option in (each for each in outer if not taken.intersection(each.names)):
            hidden = {**option.settings, "default": SUPPRESS, "help": SUPPRESS, "required": False}
            parser.add_argument(*option.names, **hidden).completes = option.completes  # type: ignore[attr-defined]
        if self.runs:
            parser.set_defaults(chosen=self)
        if self.tools:
            nested = parser.add_subparsers(required=True, metavar=self.kind, dest=self.kind)
            for tool, command in self.tools.items():
                mine = tuple(option for option in self.options if option.names[0].startswith("-"))
                command.add_to(nested, tool, path, examples, (*outer, *mine))
