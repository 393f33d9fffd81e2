"""The stored corpus: `corpus/TARGET.txt`, one hexadecimal input per line.

corpus.py expand TARGET FOLDER    writes each input to its own file, as libFuzzer expects
corpus.py keep TARGET FOLDER      the reverse, shortest input first; FOLDER is the output of `TARGET -merge=1`
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
