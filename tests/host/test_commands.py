"""The declarations of the subcommands are complete, documented and fast to import."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kairos import cli, compiler
from kairos.cli import commands, parser, reference
from kairos.cli.commands.compile import STAGES
from tests.support import TIMEOUT
from tests.support.command import run_kairos

MANUAL = Path(__file__).parents[2] / "docs" / "commands.md"


def every(name):
    """Returns the subcommand and its tools, with their names on the command line."""

    def walk(path, command):
        yield path, command
        for tool, nested in command.tools.items():
            yield from walk(f"{path} {tool}", nested)

    return list(walk(name, commands.load(name)))


@pytest.mark.parametrize("name", commands.names())
def test_subcommand_has_function_or_subcommands(name):
    for path, command in every(name):
        assert bool(command.runs) != bool(command.tools), path
        if command.runs:
            assert callable(command.function()) and command.function().__doc__, path
        assert command.help and all(option.settings["help"] for option in command.options), path


def test_manual_lists_exactly_the_declared_subcommands():
    assert reference.page() == MANUAL.read_text(), (
        "docs/commands.md is stale: renew it with 'build/venv/bin/python -m kairos.cli.reference > docs/commands.md'"
    )


def leaves():
    """Returns (words, command, examples) of every leaf command, at any depth."""

    def walk(path, command, others):
        examples = command.examples_of(path, others)
        if command.runs:
            yield path, command, examples
        for tool, nested in command.tools.items():
            yield from walk(f"{path} {tool}", nested, examples)

    return [leaf for name in commands.names() for leaf in walk(name, commands.load(name), ())]


LEAVES = leaves()

ACTS = {
    "bench draw": "writes a picture",
    "boot": "sends firmware",
    "compile": "writes what the compiler makes",
    "lsp": "serves an editor",
    "sweep": "writes a file of results",
    "completion": "prints a script",
    "datasets set": "changes",
    "datasets delete": "changes",
    "device config write": "changes",
    "device config remove": "changes",
    "device config erase": "changes",
    "device reboot": "changes",
    "device flash": "changes",
    "device debug": "has the device write its log",
    "emulate": "is a device",
    "hub serve": "is a server",
    "hub write": "changes",
    "hub metrics": "prints what Prometheus reads",
    "hub reload": "starts a plugin anew",
    "hub token": "prints a piece of hub.toml",
    "experiments scan": "changes",
    "lab start": "is a server",
    "lab end": "changes",
    "moninj output": "changes",
    "moninj set": "changes",
    "moninj release": "changes",
    "new": "writes files",
    "plot": "writes a picture",
    "pulse compile": "writes words",
    "pulse view": "writes a picture",
    "alarms acknowledge": "changes",
    "alarms test": "sends a message",
    "parameters accept": "changes",
    "parameters reject": "changes",
    "parameters restore": "changes",
    "queue move": "changes",
    "queue hold": "changes",
    "queue pause": "changes",
    "queue release": "changes",
    "queue edit": "changes",
    "queue answer": "changes",
    "queue terminate": "changes",
    "layouts export": "writes files",
    "layouts import": "changes",
    "logbook export": "writes a file",
    "locks take": "changes",
    "locks release": "changes",
    "runs export": "writes a file",
    "runs tag": "changes",
    "runs note": "changes",
    "runs reindex": "changes",
    "run": "runs an experiment, whose datasets -o writes",
}
"""Commands that need no `--json`, as they return no information, and what they do instead."""


@pytest.mark.parametrize("path, command, _examples", LEAVES, ids=[leaf[0] for leaf in LEAVES])
def test_every_query_has_a_json_option(path, command, _examples):
    has = any("--json" in option.names for option in command.options)
    assert has != (path in ACTS), f"'kairos {path}' is a query and needs --json, or stands in ACTS"


def test_listed_actions_are_existing_commands():
    assert set(ACTS) <= {path for path, _, _ in LEAVES}


@pytest.mark.parametrize("path, _command, examples", LEAVES, ids=[leaf[0] for leaf in LEAVES])
def test_examples_of_command_help_are_valid(path, _command, examples, capsys):
    assert examples, f"'kairos {path} --help' shows no example"
    with pytest.raises(SystemExit) as ended:
        cli._parse([*path.split(), "--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0 and "examples:" in shown
    for line in examples:
        words = shlex.split(line.partition(" > ")[0].partition(" >> ")[0])
        assert words[0] == "kairos" and f"  {line}\n" in shown
        cli._parse(words[1:])


@pytest.mark.parametrize("path, command, _examples", LEAVES, ids=[leaf[0] for leaf in LEAVES])
def test_wrong_command_line_is_one_plain_line_after_usage(path, command, _examples, capsys):
    """Output on terminals is tested in `test_colour.py` and `test_progress.py`."""
    given = ["x" for option in command.options if not option.names[0].startswith("-")]
    with pytest.raises(SystemExit) as ended:
        cli._parse([*path.split(), "--no-such-option", *given])
    printed = capsys.readouterr()
    assert ended.value.code == 2 and not printed.out and "\x1b" not in printed.err
    assert len([line for line in printed.err.splitlines() if line.startswith("kairos")]) == 1, printed.err


def test_bash_completion_has_every_command_and_option():
    script = run_kairos("completion", "bash").stdout
    for path, command, _ in LEAVES:
        variable = "_shtab_kairos_" + path.replace(" ", "_").replace("-", "_")
        assert f"{variable}_option_strings=(" in script, path
        for option in command.options:
            for name in option.names:
                if name.startswith("--"):
                    known = re.search(rf"{variable}_option_strings=\((.*)\)", script)[1].replace("'", " ").split()
                    assert name in known, (path, name)


def test_fish_completion_has_every_command_and_option():
    script = run_kairos("completion", "fish").stdout
    for path, command, _ in LEAVES:
        known = re.findall(rf"^complete -c kairos -n '?_shtab_kairos_using {path}'? .*-l (\S+)", script, re.MULTILINE)
        long = [name[2:] for option in command.options for name in option.names if name.startswith("--")]
        assert set(long) <= set(known), path


@pytest.mark.parametrize("name", commands.names())
def test_examples_of_main_help_are_valid(name, capsys):
    command = commands.load(name)
    assert command.examples
    for line in command.examples:
        words = shlex.split(line.partition(" > ")[0])
        assert words[:2] == ["kairos", name]
        cli._parse(words[1:])
    with pytest.raises(SystemExit):
        cli._parse([name, "--help"])
    shown = capsys.readouterr().out
    assert all(f"  {line}\n" in shown for line in command.examples)


def test_compile_stages_are_those_of_the_compiler():
    assert STAGES == compiler.STAGES


def test_command_line_parses_without_optional_modules():
    code = "import sys, kairos.cli; kairos.cli.parser(kairos.cli.commands.names()); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    heavy = {"numpy", "subprocess", "socket", "h5py", "llvmlite", "matplotlib", "kairos._native", "kairos.devices"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_subcommands_options_and_files(tmp_path):
    script = subprocess.run([sys.executable, "-m", "kairos", "completion", "bash"], capture_output=True, text=True)
    assert script.returncode == 0, script.stderr
    (tmp_path / "script").write_text(script.stdout)
    (tmp_path / "my_blink.py").touch()
    for words, expected in [
        ("kairos mon", "moninj"),
        ("kairos device con", "config"),
        ("kairos run --no-s", "--no-skip"),
        ("kairos plot my_", "my_blink.py"),
    ]:
        *_, last = parts = words.split()
        typed = " ".join(f"'{part}'" for part in parts)
        ask = (
            f"source ./script; COMP_WORDS=({typed}); COMP_CWORD={len(parts) - 1}; "
            f"_shtab_kairos kairos {last} {parts[-2]}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        found = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True).stdout.split()
        assert expected in found, (words, found)


def test_option_of_a_command_may_follow_its_subcommands():
    chosen = parser(["device"])
    for words in (["--key", "k", "config", "read", "-s", "ip"], ["config", "read", "-s", "ip", "--key", "k"]):
        args = chosen.parse_args(["device", *words])
        assert (args.key, args.device_db, args.string) == ("k", "device_db.py", ["ip"])


@pytest.mark.parametrize(
    "words, name, values",
    [
        ("check scan.py --least-slack 1us n=10", "files", ["scan.py", "n=10"]),
        ("check --within 5s a.py --strict b.py", "files", ["a.py", "b.py"]),
        ("run a.py -o x.h5 n=-3 --quiet m=2", "arguments", ["n=-3", "m=2"]),
        ("runs tag good 3 --lab x 4", "runs", [3, 4]),
        ("calibrate a --force b", "names", ["a", "b"]),
        ("datasets set a -1e3", "value", "-1e3"),
        ("datasets set a -.5", "value", "-.5"),
        ("run a.py --last -5us", "last", "-5us"),
        ("run a.py", "arguments", []),
    ],
)
def test_words_behind_options_and_negative_numbers_are_values(words, name, values):
    assert getattr(cli._parse(words.split()), name) == values


@pytest.mark.parametrize(
    "words, text",
    [
        ("emulate --offset -1", "--offset -1: give 0 to 64152"),
        ("emulate --offset 70000", "--offset 70000: give 0 to 64152"),
        ("boot -D x --port 99999", "99999 is not a whole number from 1 to 65535"),
        ("boot -D x --patience -1", "-1 is not a number of at least 0.1"),
        ("device -D host:99999 log", "--device host:99999 has no valid port: ports are 1 to 65535"),
        ("log -n -1", "-1 is not a whole number of at least 0"),
        ("sweep a.py --workers 0", "0 is not a whole number of at least 1"),
        ("runs tag good 3 --lab x four", "invalid literal for int"),
        ("datasets set x 1e999", "1e999 is too large for a float; infinity is 'inf'"),
        ("datasets set x [1.0,-2.5e310]", "2.5e310 is too large"),
        ("--verson", "did you mean --version?"),
        ("submit R --due-date 25:99", "did you mean --due?"),
        ("rehears", "did you mean rehearse?"),
        ("compile", "required: FILE\n"),
    ],
)
def test_wrong_command_line_reports_its_remedy(words, text, capsys):
    try:
        code = cli.main(words.split())
    except SystemExit as end:
        code = end.code
    assert code == 2 and text in capsys.readouterr().err


def test_help_of_a_command_is_also_called_help(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["help", "plot"])
    assert end.value.code == 0 and "usage: kairos plot" in capsys.readouterr().out
