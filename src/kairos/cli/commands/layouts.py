"""``kairos layouts``: arrangements of the page as text files."""

from ..command import Command, Option
from ..options import JSON, LAB

COMMAND = Command(
    "list the layouts of the page, write them as text files, take them from such files",
    tools={
        "list": Command("list the layouts", LAB, JSON, runs="layouts.list_all"),
        "export": Command(
            "write layouts as text files, which a repository may keep: those in its folder 'layouts' are taken "
            "when it is scanned",
            Option("names", nargs="*", metavar="NAME", help="layouts; default: all"),
            Option("-o", "--output", metavar="FOLDER", default="layouts", help="folder; default: %(default)s"),
            LAB,
            runs="layouts.export",
        ),
        "import": Command(
            "take layouts from text files; a layout that exists gets a new version",
            Option("files", nargs="+", metavar="FILE", help="files written by 'export', called NAME.json"),
            LAB,
            runs="layouts.take",
        ),
    },
    default="list",
    examples=(
        "kairos layouts list --json",
        "kairos layouts export night -o repository/layouts",
        "kairos layouts import layouts/night.json",
    ),
)
