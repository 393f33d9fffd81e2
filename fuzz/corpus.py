"""The corpus that is kept: `corpus/TARGET.txt`, an input in each line, in hexadecimal.

corpus.py expand TARGET FOLDER    writes each input to a file, as libFuzzer reads them
corpus.py keep TARGET FOLDER      the other way round, shortest first; FOLDER is what `TARGET -merge=1` has made
"""

import hashlib
import sys
from pathlib import Path

action, target, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
kept = Path(__file__).parent / "corpus" / f"{target}.txt"
if action == "expand":
    folder.mkdir(parents=True, exist_ok=True)
    for line in kept.read_text().splitlines() if kept.exists() else []:
        data = bytes.fromhex(line)
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
elif action == "keep":
    inputs = sorted({path.read_bytes() for path in folder.iterdir()}, key=lambda data: (len(data), data))
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("".join(f"{data.hex()}\n" for data in inputs))
else:
    sys.exit(__doc__)
