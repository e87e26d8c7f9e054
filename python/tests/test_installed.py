"""What is in the package beside Python: the program, headers and libraries for CMake, notices; and faults of installing."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest
import tidemill_program

import tidemill as tm

PACKAGE = Path(tm.__file__).parent
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(*command, **options):
    return subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, **options)


def test_the_program_is_in_the_package_and_receives(demo, tmp_path):
    program = Path(sys.executable).parent / "tidemill"
    assert run(program, "--version").stdout == run(PACKAGE / "bin/tidemill", "--version").stdout != ""
    done = run(program, "dvbs2", "rx", demo, "-o", tmp_path / "video.ts", "--executor", "sequence")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "video.ts").read_bytes() == tm.dvbs2.receive(demo, executor="sequence").packets.tobytes()
    assert run(program, "no-such-verb").returncode == 2


def test_verbs_of_python_are_found_beside_the_program_which_is_not_on_the_path():
    program = Path(sys.executable).parent / "tidemill"
    environment = {name: value for name, value in os.environ.items() if name != "PATH"} | {"PATH": "/usr/bin:/bin"}
    for words in (["sweep"], ["bench", "python"]):
        told = run(program, *words, "--help", env=environment)
        assert told.stdout.startswith(f"usage: tidemill {' '.join(words)} "), told.stdout


def test_the_program_starts_without_numpy():
    text = "import sys, tidemill_program; print('numpy' in sys.modules, tidemill_program.package_folder())"
    assert run(sys.executable, "-c", text).stdout.split() == ["False", str(PACKAGE)]


def test_every_name_that_users_get_says_what_it_is():
    silent = [name for name in tm.__all__ if not getattr(tm, name).__doc__]
    assert silent == []
    assert {"task", "stage", "replica", "frame"} <= vars(tm.FrameError).keys()  # and so they are in the stub


def test_importing_brings_no_more_than_is_used():
    text = "import sys, numpy; before = set(sys.modules); import tidemill; print(*sorted(set(sys.modules) - before))"
    brought = run(sys.executable, "-c", text).stdout.split()
    assert "tidemill._core" in brought
    assert not {"asyncio", "ssl", "matplotlib", "pandas", "multiprocessing"} & set(brought)


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("c++"), reason="there is no CMake or compiler")
def test_a_program_in_cpp_is_built_with_what_is_in_the_package(tmp_path):
    configured = run("cmake", "-S", EXAMPLES / "template", "-B", tmp_path, "-G", "Ninja",
                     f"-Dtidemill_DIR={tm.cmake_folder()}")  # fmt: skip
    assert configured.returncode == 0, configured.stderr
    built = run("cmake", "--build", tmp_path, "--target", "my-chain")
    assert built.returncode == 0, built.stdout
    told = run(tmp_path / "my-chain", "run", "--executor", "sequence", "--frames", "100", "--amplitude", "3").stdout
    assert "level      6.53 dB" in told  # 20 log10(3) of a sine, whose mean square is 1/2


def test_notices_of_what_is_inside_are_in_the_package():
    notices = tm.licences()["licences.txt"]
    assert all(f"==== {name}" in notices for name in ("tidemill", "libfmt-dev", "libhwy-dev", "libhwloc-dev"))


@pytest.mark.parametrize(("name", "owner"), [("nanobind", "Wenzel Jakob"), ("robin-map", "Goetghebuer"), ("numpy", "NumPy Dev")])
def test_notices_of_what_is_compiled_into_the_module_are_in_the_package(name, owner):
    notice = tm.licences()[f"{name}.txt"]
    assert owner in notice and ("Permission is hereby" in notice or "Redistributions in binary form" in notice)
    assert len(notice) < 3000  # its own, not of what it ships along


class Wheel(Distribution):
    def __init__(self, tag):
        self.tag = tag

    def read_text(self, filename):
        return f"Wheel-Version: 1.0\nTag: {self.tag}\n" if filename == "WHEEL" else None

    def locate_file(self, path):
        return Path(path)


@pytest.mark.parametrize(
    ("tag", "wanted"),
    [
        ("cp312-abi3-manylinux_2_35_x86_64", (2, 35)),
        ("cp311-cp311-manylinux_2_34_aarch64", (2, 34)),
        ("cp311-cp311-linux_x86_64", None),
        ("rubbish", None),
    ],
)
def test_a_wheel_says_which_systems_it_is_for(tag, wanted):
    assert tidemill_program.wanted_by(Wheel(tag)) == wanted


def test_on_a_system_too_old_a_sentence_says_so(monkeypatch):
    monkeypatch.setattr(tidemill_program, "distribution", lambda name: Wheel("cp312-abi3-manylinux_2_35_x86_64"))
    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.35")
    assert tidemill_program.what_is_too_old() is None
    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.31")
    with pytest.raises(SystemExit, match=r"glibc 2.35 or newer, and this one has 2.31: take a newer system"):
        tidemill_program.main()
    from tidemill._loading import explained

    told = explained(ImportError("/lib/libc.so.6: version `GLIBC_2.35' not found (required by _core.abi3.so)"))
    assert str(told).startswith("this system is too old for tidemill: it was built for systems with glibc 2.35")


def broken(tmp_path, change):
    """What importing a copy of the package says, after a change of it."""
    for name in ("tidemill", "tidemill_program"):
        shutil.copytree(PACKAGE.parent / name, tmp_path / name, ignore=shutil.ignore_patterns("lib", "include", "bin"))
    (library,) = (tmp_path / "tidemill").glob("_core.*.so")
    change(library)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    return run(sys.executable, "-c", "import tidemill", env=environment).stderr.strip().splitlines()[-1]


def test_a_library_that_cannot_be_loaded_is_a_sentence(tmp_path):
    told = broken(tmp_path, lambda library: library.write_bytes(library.read_bytes()[:100]))
    assert told.startswith("ImportError: the library of tidemill cannot be loaded into Python 3.")


def test_a_package_for_another_python_is_a_sentence(tmp_path):
    told = broken(tmp_path, lambda library: library.rename(library.with_name("_core.cpython-399-x86_64-linux-gnu.so")))
    assert told.startswith("ImportError: tidemill was built for another Python (_core.cpython-399")


def test_a_package_that_was_not_built_is_a_sentence(tmp_path):
    assert broken(tmp_path, lambda library: library.unlink()).startswith("ImportError: tidemill is here as source only")
