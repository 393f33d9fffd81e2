"""``kairos completion``: completion scripts for shells."""

from ..command import Command, Option

COMMAND = Command(
    "print a completion script for a shell",
    Option("shell", choices=("bash", "zsh", "fish", "tcsh", "powershell"), help="shell to complete for"),
    runs="completion.script",
    examples=(
        "kairos completion bash > ~/.local/share/bash-completion/completions/kairos",
        "kairos completion fish > ~/.config/fish/completions/kairos.fish",
    ),
)
