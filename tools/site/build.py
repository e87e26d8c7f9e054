#!/usr/bin/env python3
"""Makes the documentation site in out/site: all documents of the source, what they point to, and the reference of both
languages. A link to what is not there, or a document that is in no chapter, is an error.

usage: build.py PACKAGE_FOLDER, where the package tidemill lies; needs mkdocs-material, mkdocstrings-python and libclang
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from cpp_reference import write_reference
from python_reference import check_python_reference, write_python_reference

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "build/site"
PUBLIC_HEADERS = ["tidemill/tidemill.hpp", "tidemill/dvbs2.hpp", "tidemill/runtime/tasks/tasks.hpp"]
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".json": "json", ".cmake": "cmake",
             ".sh": "bash", ".ipynb": "", ".txt": "text", ".out": "text", ".csv": "text"}  # fmt: skip
CHAPTERS = {
    "Receive": [*(f"docs/guides/{page}.md" for page in (
        "receive", "transmit", "tolerance", "radio", "radio/recordings", "radio/rtl-sdr", "radio/pluto", "radio/usrp",
        "radio/network", "radio/page", "radio/unattended", "radio/loopback")), "gr-tidemill/README.md"],
    "Program": ["docs/guides/language.md", "docs/reference/language.md", *(f"docs/guides/{page}.md" for page in (
        "python", "program", "tour")), "examples/README.md"],
    "Schedule": [f"docs/guides/{page}.md" for page in (
        "scheduling", "dynamic", "unequal-cores", "ordinary-programs", "device", "many-machines")],
    "Reference": [*(f"docs/reference/{page}.md" for page in (
        "glossary", "inputs-and-outputs", "reports", "stream-formats", "schedules", "dynamic", "unequal-cores", "devices",
        "architecture")), "HACKING.md", "SECURITY.md"],
    "Measurements": [f"docs/measured/{page}.md" for page in (
        "dvbs2-speed", "error-rates", "channels", "gnuradio", "radio", "scheduling", "dynamic", "unequal-cores", "devices",
        "python", "many-machines", "benchmarks")],
}  # fmt: skip
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")


class Stage:
    """A copy of the documents in the folders that they have in the source, with what they point to."""

    def __init__(self) -> None:
        shutil.rmtree(STAGE, ignore_errors=True)
        self.staged: set[Path] = set()
        self.others: list[str] = []  # pages that no document is the source of

    def document(self, path: str) -> str:
        source = ROOT / path
        if source in self.staged:
            return path
        self.staged.add(source)
        parts = re.split(r"(^```.*?^```$)", source.read_text("utf-8"), flags=re.M | re.S)
        text = "".join(part if part.startswith("```") else self.with_links(part, source) for part in parts)
        self.write(path, text)
        return path

    def write(self, path: str, text: str) -> None:
        to = STAGE / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, "utf-8")

    def with_links(self, text: str, source: Path) -> str:
        return LINK.sub(lambda link: "".join((link[1], self.target(link[2], source), link[3] or "", link[4])), text)

    def target(self, link: str, source: Path) -> str:
        if re.match(r"[a-z]+:", link):
            return link
        path = (source.parent / link).resolve()
        if not path.exists():
            sys.exit(f"{source.relative_to(ROOT)} links to {link}, which is not there")
        return os.path.relpath(STAGE / self.page_of(path), STAGE / source.parent.relative_to(ROOT))

    def page_of(self, path: Path) -> str:
        """Where the site has what lies there."""
        relative = str(path.relative_to(ROOT))
        if path.is_dir():
            return self.page_of(path / "README.md") if (path / "README.md").exists() else self.folder(path)
        if path.suffix == ".md":
            return self.document(relative)
        if path.suffix in LANGUAGES or path.name == "CMakeLists.txt":
            return self.source_page(path)
        if path not in self.staged:
            self.staged.add(path)
            (STAGE / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, STAGE / relative)
        return relative

    def folder(self, path: Path) -> str:
        page = f"{path.relative_to(ROOT)}/index.md"
        if path not in self.staged:
            self.staged.add(path)
            self.others.append(page)
            files = sorted(each for each in path.iterdir() if each.is_file())
            links = [f"- [{each.name}]({each.name}.md)" for each in files if self.page_of(each).endswith(".md")]
            self.write(page, "\n".join([f"# {path.relative_to(ROOT)}", "", *links]) + "\n")
        return page

    def source_page(self, path: Path) -> str:
        page = f"{path.relative_to(ROOT)}.md"
        if path not in self.staged:
            self.staged.add(path)
            self.others.append(page)
            text = notebook(path) if path.suffix == ".ipynb" else fenced(path.read_text("utf-8"), LANGUAGES[path.suffix])
            self.write(page, f"# {path.relative_to(ROOT)}\n\n{text}\n")
        return page


def fenced(text: str, language: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````"


def notebook(path: Path) -> str:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = [("".join(cell["source"]), cell["cell_type"]) for cell in cells]
    return "\n\n".join(fenced(text, "python") if kind == "code" else re.sub("^# .*\n*", "", text) for text, kind in texts)


def titled(paths: list[str]) -> list[dict[str, str]]:
    return [{(STAGE / path).read_text("utf-8").partition("\n")[0].lstrip("# "): path} for path in paths]


def check_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r'<(?:script|img|iframe|link rel="stylesheet")[^>]* (?:src|href)="(https?:[^"]+)"')
    for page in site.glob("**/*.html"):
        if found := loaded.search(page.read_text("utf-8")):
            sys.exit(f"{page.relative_to(site)} loads {found[1]}: the site is read without a network, too")


def main() -> None:
    stage, package = Stage(), Path(sys.argv[1]).resolve()
    rooms = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tidemill/*/README.md"))
    others = ["python/README.md", "schedext/README.md", "data/README.md"]
    for path in ["README.md", *sum(CHAPTERS.values(), []), *others, *rooms]:
        stage.document(path)
    missing = {str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")} - set(sum(CHAPTERS.values(), []))
    if missing:
        sys.exit(f"these documents are in no chapter of tools/site/build.py: {', '.join(sorted(missing))}")
    for name in ("iframe-worker.js", "wide.css"):
        shutil.copyfile(Path(__file__).parent / name, STAGE / name)
    navigation = [{"Tidemill": "README.md"}, *({title: titled(paths)} for title, paths in CHAPTERS.items()),
                  {"Python reference": write_python_reference(package, STAGE)},
                  {"C++ reference": write_reference(ROOT, PUBLIC_HEADERS, STAGE)},
                  {"C reference": stage.source_page(ROOT / "tidemill/c/tidemill.h")},
                  {"Rooms": titled(rooms) + titled(others)}]  # fmt: skip
    config = yaml.safe_load((Path(__file__).parent / "mkdocs.yml").read_text("utf-8"))
    config["plugins"][-1]["mkdocstrings"]["handlers"]["python"]["paths"] = [str(package)]
    in_navigation = {"tidemill/c/tidemill.h.md"}
    config |= {"docs_dir": str(STAGE), "site_dir": str(ROOT / "out/site"), "nav": navigation,
               "not_in_nav": "\n".join(f"/{page}" for page in stage.others if page not in in_navigation)}  # fmt: skip
    (ROOT / "build/mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", ROOT / "build/mkdocs.yml"], check=True,
                   env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})  # fmt: skip
    check_python_reference(package, ROOT / "out/site/objects.inv")
    check_nothing_is_loaded_from_elsewhere(ROOT / "out/site")
    print(f"{sum(1 for _ in (ROOT / 'out/site').glob('**/*.html'))} pages: out/site/index.html")


if __name__ == "__main__":
    main()
