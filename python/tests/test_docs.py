"""Every snippet of the documents on Python runs, one after the other, as a reader would; notebooks', by ./x notebooks."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from interpreter import HAS_LOCK

ROOT = Path(__file__).resolve().parents[2]


def _blocks(document):
    """(language, text, the line before) of each block of code."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [(lang, code, before) for before, lang, code in re.findall(r"([^\n]*)\n\n```(\w+)\n(.*?)```", text, re.DOTALL)]


def test_every_session_with_many_machines_runs(tmp_path, monkeypatch, program):
    pytest.importorskip("matplotlib")
    (tmp_path / "build/release/bin").mkdir(parents=True)
    (tmp_path / "build/release/bin/tidemill").symlink_to(program)
    (tmp_path / "build/venv").symlink_to(sys.prefix)
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    sessions = 0
    for language, code, before in _blocks("docs/guides/many-machines.md"):
        if language == "toml":
            name = re.search(r"This is `([a-z]+\.toml)`:$", before)
            assert name, code
            Path(name[1]).write_text(code, encoding="utf-8")
        elif language == "python":
            exec(compile(code, "docs/guides/many-machines.md", "exec"), {})  # noqa: S102
        elif code.startswith("export PATH="):
            path = code.split('"')[1].replace("$PWD", str(tmp_path)).replace("$PATH", os.environ["PATH"])
            monkeypatch.setenv("PATH", path)
        else:
            subprocess.run(["bash", "-euc", code], check=True, timeout=600)
            sessions += 1
    assert sessions >= 2 and Path("fer.pdf").stat().st_size > 0
    assert not any(Path("ber.sweep").glob("*.new"))


def test_every_snippet_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/guides/python.md").read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(snippets) > 8
    names: dict[str, object] = {}
    for number, snippet in enumerate(snippets):
        exec(compile(snippet, f"docs/guides/python.md, snippet {number + 1}", "exec"), names)  # noqa: S102
    printed = capsys.readouterr().out
    assert ("kept the array of append.y" in printed) == HAS_LOCK and "no signal found" in printed
    assert names["means"] == [1, 1.5, 3]
