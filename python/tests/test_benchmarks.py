"""The benchmarks begin, and say what they take; what they measure is for a quiet machine."""

import importlib

import pytest


@pytest.mark.parametrize("name", ["python", "sweep"])
def test_a_benchmark_says_what_it_takes(name, capsys):
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"tidemill.bench.{name}").main(["--help"])
    assert ended.value.code == 0
    assert f"usage: tidemill bench {name}" in capsys.readouterr().out
