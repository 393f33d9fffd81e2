"""How a subcommand of ``kairos`` is declared, and how `argparse` comes to know it.

Each module of :mod:`kairos.cli.commands` defines ``COMMAND``, and has the name of its subcommand.
Nothing else needs to know of it: the command line and the manual's page
(:mod:`kairos.cli.reference`) are made from the declarations.
"""

from argparse import RawDescriptionHelpFormatter
from importlib import import_module

__all__ = ["Command", "Option"]


class Option:
    """An option or a positional argument, in the words of `ArgumentParser.add_argument`.

    `group` is the heading under which the help shows it.
    """

    def __init__(self, *names: str, help: str, group: str | None = None, **settings):
        self.names = names
        self.group = group
        self.settings = {**settings, "help": help}


def _is_of(line: str, path: str) -> bool:
    """Whether an example has the words of a subcommand, in their order; options with their values stand between."""
    words = iter(line.split())
    return all(word in words for word in path.split())


class Command:
    """A subcommand: either it runs a function, or it has `tools`, subcommands of its own, which the
    help calls `kind`; `default` is the one that is meant where none is named.

    `runs` names the function, ``module.function`` in :mod:`kairos.cli`: it is imported when it is
    called, since what a subcommand needs takes up to 0.5 s to import. It takes the parsed command
    line, and returns the exit code, or None for 0. `examples` are command lines, which the help
    shows.
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
        """The words behind its name, with the default tool where they name none."""
        names_none = not words or (words[0].startswith("-") and words[0] not in ("-h", "--help"))
        return [self.default, *words] if self.default and names_none else words

    def description(self) -> str:
        """What it does, as a sentence."""
        alone = f" Alone it does what '{self.default}' does." if self.default else ""
        return f"{self.help[0].upper()}{self.help[1:]}.{alone}"

    def function(self):
        """The function that the subcommand runs."""
        module, _, name = self.runs.partition(".")
        return getattr(import_module(f".{module}", __package__), name)

    def examples_of(self, path: str, others: tuple[str, ...]) -> tuple[str, ...]:
        """Its examples, and those of `others` (the commands around it) that are of this one, whose words are `path`."""
        return (*self.examples, *(line for line in others if _is_of(line, path)))

    def add_to(self, parsers, name: str, path: str = "", others: tuple[str, ...] = ()):
        """Add a parser called `name` to what `ArgumentParser.add_subparsers` has given; `path` and
        `others`: words and examples of the commands around it."""
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
            groups[option.group].add_argument(*option.names, **option.settings)
        if self.runs:
            parser.set_defaults(chosen=self)
        if self.tools:
            nested = parser.add_subparsers(required=True, metavar=self.kind, dest=self.kind)
            for tool, command in self.tools.items():
                command.add_to(nested, tool, path, examples)
