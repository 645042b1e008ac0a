"""Policies that differ from the shipped one by what they say of a queue."""

from __future__ import annotations

import re

from backend.services.policies import shipped_policy

STANDARD = shipped_policy()


def versioned(text: str, version: str) -> str:
    """Give a changed text a version of its own."""
    return re.sub(r'^version = ".*"$', f'version = "{version}"', text, count=1, flags=re.MULTILINE)


def renamed(text: str, old: str, new: str, version: str) -> str:
    """Rename a queue; what waits in it goes along. What the text says of former names goes."""
    text = re.sub(r"^formerly = .*\n", "", text, flags=re.MULTILINE)
    text = text.replace(f'"{old}"', f'"{new}"')
    head = f'[queues.{new}]\nformerly = ["{old}"]'
    return versioned(text.replace(f"[queues.{old}]", head), version)


def deleted(text: str, name: str, version: str, *, heir: str = "escalation") -> str:
    """Leave a queue out; what names it names `heir` instead, which does not say so in formerly."""
    text = re.sub(rf"\[queues\.{name}\]\n(?:[^\[#\n].*\n)+\n", "", text)
    return versioned(_once_each(text.replace(f'"{name}"', f'"{heir}"')), version)


def merged(text: str, name: str, heir: str, version: str) -> str:
    """Leave a queue out; its work goes to `heir`."""
    text = deleted(text, name, version, heir=heir)
    return text.replace(f"[queues.{heir}]", f'[queues.{heir}]\nformerly = ["{name}"]')


def drained(text: str, name: str, version: str) -> str:
    """Let a queue drain; its kinds go where everything goes that no queue names."""
    text = re.sub(rf"(\[queues\.{name}\]\n.*\n)kinds = .*\n", r"\1draining = true\n", text)
    return versioned(text, version)


def _once_each(text: str) -> str:
    """Take out the second of two names that have become the same."""

    def once(line: re.Match[str]) -> str:
        names = dict.fromkeys(re.findall(r'"\w+"', line[1]))
        return f"queues = [{', '.join(names)}]"

    return re.sub(r"queues = \[(.*?)\]", once, text)
