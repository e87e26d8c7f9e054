"""How tests wait for other processes."""

import time


def wait_for(condition):
    """However long a busy machine takes, up to ten minutes."""
    for _ in range(60000):
        if condition():
            return
        time.sleep(0.01)  # of another process nothing else tells
    raise AssertionError("it has not come")
