"""Every snippet of docs/python.md runs, one after the other, as a reader would; so do the notebooks' (./x notebooks)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_every_snippet_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(snippets) > 8
    names: dict[str, object] = {}
    for number, snippet in enumerate(snippets):
        exec(compile(snippet, f"docs/python.md, snippet {number + 1}", "exec"), names)  # noqa: S102
    printed = capsys.readouterr().out
    assert "kept the array of append.y" in printed and "no signal found" in printed
    assert names["means"] == [1, 1.5, 3]
