"""Whatever the arguments of public functions are: what comes is a result, or an exception with a sentence.

The calls are made in a process of its own, whose memory is limited: what ends it, or hangs, is told with the seed that
makes it again: `TIDEMILL_FUZZ_SEED=7 TIDEMILL_FUZZ_CALLS=5000 pytest python/tests/test_hostile_arguments.py`.
"""

import os
import subprocess
import sys
from pathlib import Path

CALLS = int(os.environ.get("TIDEMILL_FUZZ_CALLS", "400"))
SEED = int(os.environ.get("TIDEMILL_FUZZ_SEED", "20"))
CALLER = Path(__file__).with_name("hostile_calls.py")


def test_no_argument_ends_or_hangs_the_interpreter_or_is_answered_with_a_riddle(tmp_path):
    call = [sys.executable, "-X", "faulthandler", str(CALLER), str(SEED), str(CALLS)]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=1200)
    told = f"seed {SEED}, {CALLS} calls:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert done.returncode == 0, told
    assert f"{CALLS} calls" in done.stdout, told
