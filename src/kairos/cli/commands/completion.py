"""``kairos completion``: what a shell needs to complete the command line."""

from ..command import Command, Option

COMMAND = Command(
    "print a shell's completions, as in: kairos completion bash > ~/.local/share/bash-completion/completions/kairos",
    Option("shell", choices=("bash", "zsh", "fish", "tcsh", "powershell"), help="the shell"),
    runs="completion.script",
    examples=(
        "kairos completion bash > ~/.local/share/bash-completion/completions/kairos",
        "kairos completion fish > ~/.config/fish/completions/kairos.fish",
    ),
)
