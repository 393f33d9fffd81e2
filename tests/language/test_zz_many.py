import os, time
from pathlib import Path
import pytest
from kairos.errors import CompileError
from .test_programs import Comparison, TOGETHER
from .generator import Writer

def test_zz(core, tmp_path):
    c = Comparison(core, tmp_path)
    log = open(os.environ["ZZ_LOG"], "a", buffering=1)
    first, last = int(os.environ["ZZ_FIRST"]), int(os.environ["ZZ_LAST"])
    bad = 0
    t0 = time.time()
    for n in range(first, last, TOGETHER):
        numbers = list(range(n, n + TOGETHER))
        try:
            c.check(numbers)
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt): raise
            bad += 1
            log.write(f"=== {n}: {type(e).__name__}\n{str(e)[:3000]}\n")
        for f in tmp_path.glob("*.py"): f.unlink()
        if n % 400 == 0: log.write(f"--- {n} done {time.time()-t0:.0f} s, {bad} bad\n")
        if bad > 12: break
    log.write(f"--- end at {n}, {bad} bad, {time.time()-t0:.0f} s\n")
