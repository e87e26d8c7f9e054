"""For the site: parameters, which docstrings tell line by line as `name: text`, become the items of a list."""

import re
from typing import Any

import griffe

PARAMETERS = re.compile(r"(?:^|(?<=[.;]) )([a-z][a-z0-9_]*(?:, [a-z][a-z0-9_]*)*): ")


class Parameters(griffe.Extension):
    """Before anything is read into the text."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = with_items(obj.docstring.value)


def with_items(text: str) -> str:
    lines, in_list = [], False
    for line in text.splitlines():
        told = PARAMETERS.match(line) is not None
        if told != in_list and line[:1].strip():
            lines.append("")
            in_list = told
        lines.append(PARAMETERS.sub(item, line) if told else line)
    return "\n".join(lines)


def item(names: re.Match[str]) -> str:
    return f"{chr(10) if names.start() else ''}- `{names[1].replace(', ', '`, `')}`: "
