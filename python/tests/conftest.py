import random
from pathlib import Path

import pytest
from hypothesis import settings

from tidemill.sweep.processes import Processes

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.hookimpl(tryfirst=True)  # before Hypothesis looks
def pytest_configure(config):
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.randrange(2**32))


def pytest_report_header(config):
    return f"properties are drawn again by --hypothesis-seed={config.getoption('--hypothesis-seed')}"


@pytest.fixture(scope="session")
def demo() -> Path:
    """The recording that comes with the source."""
    return DATA / "demo.sigmf-meta"


@pytest.fixture(scope="session")
def program() -> Path:
    """The built program `tidemill`."""
    built = [DATA.parent / f"build/{preset}/bin/tidemill" for preset in ("release", "dev")]
    for path in built:
        if path.exists():
            return path
    pytest.skip("the program is not built: ./x build")


@pytest.fixture(scope="session")
def demo_ts() -> bytes:
    """The transport stream that it carries."""
    return (DATA / "demo.ts").read_bytes()


@pytest.fixture(scope="session")
def published_profile() -> Path:
    return DATA / "profiles" / "dvbs2-rx-opi5.json"


@pytest.fixture(scope="module")
def workers():
    with Processes(2) as executor:
        yield executor
