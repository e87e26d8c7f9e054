"""The reference of the Python package: pages on which mkdocstrings writes what modules give to users, and say of it."""

import ast
import sys
import zlib
from pathlib import Path

# By page: modules, and single classes of them; those of the one that is built from C++ stand in its stub.
PAGES = {"Graphs and tasks": ["graph", "_core.Flow"], "Runs": ["run", "record.Record"], "Schedules": ["scheduling"],
         "DVB-S2": ["dvbs2"], "Recordings": ["recording"], "Task simulation": ["task_simulation", "_core.PolicyTask"],
         "Strategies": ["strategy_study"], "Reproductions": ["reproduction"], "Figures": ["figures"],
         "The package": ["installed"]}  # fmt: skip
A_CLASS = "\n    options: {show_root_heading: true, show_root_full_path: false, show_root_toc_entry: true}"


def write_python_reference(package: Path, to: Path) -> list[dict[str, str]]:
    """Pages below `to`: title and path of each. Where there is no stub, without what it tells."""
    stub = package / "tidemill/_core.pyi"
    wanted = PAGES | ({"Errors": [*(f"_core.{name}" for name in errors_of(stub)), "_laboratory.SimError"]} if stub.exists() else {})
    pages = []
    for title, names in wanted.items():
        there = [name for name in names if stub.exists() or not name.startswith("_core.")]
        parts = [f"::: tidemill.{name}{A_CLASS if '.' in name else ''}" for name in there]
        module = [name for name in there if "." not in name][:1]
        head = [f"# {title}", f"`{'.'.join(['tidemill', *module])}`"]
        path = f"reference/python/{title.lower().replace(' ', '-')}.md"
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        (to / path).write_text("\n\n".join([*head, *parts]) + "\n", "utf-8")
        pages.append({title: path})
    return pages


def errors_of(stub: Path) -> list[str]:
    classes = [each for each in ast.parse(stub.read_text("utf-8")).body if isinstance(each, ast.ClassDef)]
    return [each.name for each in classes if any(ast.unparse(base).endswith("Error") for base in each.bases)]


def check_python_reference(package: Path, inventory: Path) -> None:
    """Ends the program where the package gives its users something that no page tells of."""
    if not (package / "tidemill/_core.pyi").exists():
        return
    entries = zlib.decompress(inventory.read_bytes().split(b"\n", 4)[4]).decode()  # behind four lines of text
    told = {line.split()[0].rpartition(".")[2] for line in entries.splitlines()}
    statements = ast.parse((package / "tidemill/__init__.py").read_text("utf-8")).body
    given = {ast.unparse(each.targets[0]): each.value for each in statements if isinstance(each, ast.Assign)}
    missing = set(ast.literal_eval(given["__all__"])) - told - {"__version__", "dvbs2"}
    if missing:
        sys.exit(f"no page of tools/site/python_reference.py tells of {', '.join(sorted(missing))}")
