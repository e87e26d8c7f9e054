"""Executes the notebooks of python/notebooks, each in a fresh interpreter, and keeps the results in out/notebooks."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    out = ROOT / "out/notebooks"
    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path in sorted((ROOT / "python/notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        try:
            NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(ROOT)}}).execute()
            print(f"{path.name}: executed")
        except CellExecutionError as error:
            failed += 1
            print(f"{path.name}: {error}")
        nbformat.write(notebook, out / path.name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
