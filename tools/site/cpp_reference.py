"""The reference of the C++ side: a page for each installed header, with what it declares for users and what it says of it.

Read by libclang, so what stands there is what the compiler sees.
"""

import re
import subprocess
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

from clang import cindex
from clang.cindex import AccessSpecifier, Cursor, CursorKind

TYPES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE, CursorKind.ENUM_DECL}
MEMBERS = {CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.FIELD_DECL, CursorKind.FUNCTION_TEMPLATE,
           CursorKind.ENUM_CONSTANT_DECL, CursorKind.TYPE_ALIAS_DECL, CursorKind.VAR_DECL}  # fmt: skip
FREE = {CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.TYPE_ALIAS_DECL, CursorKind.VAR_DECL,
        CursorKind.TYPE_ALIAS_TEMPLATE_DECL, CursorKind.CONCEPT_DECL}  # fmt: skip
INTERNAL = {"internal", "std"}
COLUMNS = 90


def public_headers(root: Path, starts: list[str]) -> list[str]:
    """Those headers, and what they include of ours."""
    found, pending = [], list(starts)
    while pending:
        header = pending.pop(0)
        if header in found:
            continue
        found.append(header)
        pending += re.findall(r'^#include "(tidemill/[^"]+)"', (root / header).read_text("utf-8"), re.M)
    return sorted(found)


def parse(root: Path, headers: list[str]) -> cindex.TranslationUnit:
    text = "".join(f'#include "{header}"\n' for header in headers)
    own = subprocess.run(["c++", "-print-file-name=include"], check=True, capture_output=True, text=True).stdout.strip()
    flags = ["-x", "c++", "-std=c++20", f"-I{root}", "-fparse-all-comments", "-idirafter", own]
    unit = cindex.Index.create().parse("all.cpp", flags, [("all.cpp", text)],
                                       cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)  # fmt: skip
    faults = [str(each) for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
    if faults:
        raise SystemExit("libclang cannot read the headers:\n" + "\n".join(faults[:5]))
    return unit


def comment_of(cursor: Cursor) -> str:
    """The text behind /// and ///<, code in it as such."""
    lines = [re.sub(r"^\s*///<? ?", "", line) for line in (cursor.raw_comment or "").splitlines()]
    text, code = [], False
    for line in lines:
        if line.startswith("    ") and not code:
            text += ["", "```cpp"]
        elif not line.startswith("    ") and line and code:
            text.append("```")
        code = line.startswith("    ") or (code and not line)
        text.append(line.removeprefix("    ") if code else line)
    return "\n".join([*text, "```"] if code else text).strip()


def comment_behind(cursor: Cursor, lines: list[str]) -> str:
    """The text of ///< behind a declaration, also where that ends lines below its name."""
    end, words = cursor.extent.end, []
    for line in [lines[end.line - 1][end.column - 1 :], *lines[end.line :]]:
        behind = re.match(r"[;,\s]*///< ?(.*)", line)
        if not behind:
            break
        words.append(behind[1])
    return " ".join(words)


def declaration_of(cursor: Cursor, lines: list[str]) -> str:
    """As it stands in the header, without a body."""
    start, end = cursor.extent.start, cursor.extent.end
    text = "\n".join(lines[start.line - 1 : end.line])
    last = len(text) - (len(lines[end.line - 1]) - (end.column - 1))
    text = text[start.column - 1 : last]
    if cursor.kind in TYPES or cursor.kind in (CursorKind.CXX_METHOD, CursorKind.FUNCTION_DECL,
                                               CursorKind.FUNCTION_TEMPLATE, CursorKind.CONSTRUCTOR):  # fmt: skip
        text = without_body(text)
    text = re.sub(r"=\n\s+", "= ", text)
    return textwrap.dedent(" " * (start.column - 1) + text).rstrip(" ;{:") + ";"


def without_body(text: str) -> str:
    """Up to the brace, or a constructor's list, that is in no parentheses."""
    depth = 0
    for place, letter in enumerate(text):
        depth += letter in "(<" and not text[max(0, place - 8) : place].endswith("operator")
        depth -= letter == ")" or (letter == ">" and text[place - 1] != "-")
        if depth <= 0 and letter == "{":
            return text[:place]
        if depth <= 0 and letter == ":" and text[place - 2 : place] == ") ":
            return text[:place]
    return text


def in_our_header(cursor: Cursor, root: Path) -> str | None:
    file = cursor.location.file
    if file is None:
        return None
    path = Path(file.name).resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else None


def public_members(cursor: Cursor) -> list[Cursor]:
    """Those that it declares, and those that an internal base has a word for: it has no page."""
    children = list(cursor.get_children())
    bases = [each.type.get_declaration() for each in children if each.kind == CursorKind.CXX_BASE_SPECIFIER]
    inherited = [each for base in bases if base.semantic_parent and base.semantic_parent.spelling == "internal"
                 for each in public_members(base) if each.raw_comment]  # fmt: skip
    shown = [each for each in children if each.kind in MEMBERS]
    own = [each for each in shown if each.access_specifier in (AccessSpecifier.PUBLIC, AccessSpecifier.INVALID)]
    return own + inherited


class Reference:
    """Pages of Markdown, by header."""

    def __init__(self, root: Path, headers: list[str]) -> None:
        self.root = root
        self.lines = {header: (root / header).read_text("utf-8").splitlines() for header in headers}
        self.pages: dict[str, list[str]] = defaultdict(list)
        self.seen: set[str] = set()
        self.walk(parse(root, headers).cursor)

    def walk(self, cursor: Cursor) -> None:
        for each in cursor.get_children():
            if each.kind == CursorKind.NAMESPACE and each.spelling not in INTERNAL and each.spelling:
                self.walk(each)
                continue
            header = in_our_header(each, self.root)
            if header in self.lines and each.raw_comment and each.get_usr() not in self.seen:
                self.add(header, each)

    def add(self, header: str, cursor: Cursor) -> None:
        if cursor.kind in TYPES and cursor.is_definition():
            members = public_members(cursor)
        elif cursor.kind in FREE:
            members = []
        else:
            return
        self.seen.add(cursor.get_usr())
        told = [self.told(header, each) for each in members if self.is_for_users(header, each)]
        first = (self.declared(header, cursor), comment_of(cursor))
        self.pages[header] += [f"## {cursor.spelling}", *blocks([first]), *blocks(told)]

    def told(self, header: str, member: Cursor) -> tuple[str, str]:
        """A declaration, and what stands above it; what stands behind it stays there, where there is room."""
        code, behind = self.declared(header, member), comment_behind(member, self.lines[header])
        if not behind:
            return code, comment_of(member)
        whole = f"{code}  // {behind}"
        if len(whole.splitlines()[-1]) > COLUMNS:
            whole = "\n".join([*textwrap.wrap(behind, COLUMNS, initial_indent="// ", subsequent_indent="// "), code])
        return whole, ""

    def declared(self, header: str, cursor: Cursor) -> str:
        return declaration_of(cursor, self.lines[header])

    def is_for_users(self, header: str, member: Cursor) -> bool:
        """Neither deleted, nor there to be refused with a sentence."""
        start, end, lines = member.extent.start, member.extent.end, self.lines[header]
        is_deleted = "= delete" in lines[end.line - 1]
        is_refused = any("kNever" in line for line in lines[start.line - 1 : end.line + 1])  # bodies were not parsed
        return bool(member.spelling) and not (is_deleted or is_refused or member.spelling.startswith("operator="))


def blocks(declared: list[tuple[str, str]]) -> list[str]:
    """Each declaration with what is said of it; those without a word stand together."""
    written, silent = [], []
    for code, comment in declared:
        if not comment:
            silent.append(code)
            continue
        written += [*fences(silent), *fences([code]), comment]
        silent = []
    return [*written, *fences(silent)]


def fences(codes: list[str]) -> list[str]:
    return ["```cpp\n" + "\n".join(codes) + "\n```"] if codes else []


def write_reference(root: Path, starts: list[str], to: Path) -> list[dict[str, Any]]:
    """Pages below `to`: title and path of each as they follow each other, by the rooms that their headers are in."""
    headers = public_headers(root, starts)
    reference = Reference(root, headers)
    rooms: dict[str, list[dict[str, str]]] = defaultdict(list)
    for header in headers:
        if not reference.pages[header]:
            continue
        name = header.removeprefix("tidemill/")
        path = f"reference/cpp/{name.removesuffix('.hpp')}.md"
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        text = [f"# {header}", f'```cpp\n#include "{header}"\n```', *reference.pages[header]]
        (to / path).write_text("\n\n".join(text) + "\n", "utf-8")
        room, rest = name.split("/", 1) if "/" in name else ("", name)
        rooms[room].append({rest: path})
    return [entry for room, pages in rooms.items() for entry in ([{room: pages}] if room else pages)]
