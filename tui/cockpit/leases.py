"""How often undecided items were leased, queue by queue, as bars."""

from __future__ import annotations

from shared.wire.cockpit import Health, QueueHealth
from tui.widgets.paint import Content, fit, glue, rule, words

_COLUMN = 36
MARKED_FROM = 3
"""Items leased so often and still undecided say that the policy has a gap."""


def histogram_rows(health: Health, width: int) -> list[Content]:
    """Return, for each queue, how many undecided items were leased how often; busiest first."""
    across = max(width // _COLUMN, 1)
    room = width // across
    busiest = sorted(health.queues, key=lambda queue: -queue.waiting)
    blocks = [_histogram(queue, room - 2) for queue in busiest]
    rows: list[Content] = []
    for first in range(0, len(blocks), across):
        band = blocks[first : first + across]
        height = max(len(block) for block in band)
        for place in range(height):
            cells = [block[place] if place < len(block) else words("") for block in band]
            rows.append(glue(*(fit(cell, room) for cell in cells)))
        rows.append(words(""))
    return rows[:-1]


def _histogram(queue: QueueHealth, width: int) -> list[Content]:
    rows = [rule(queue.title, width)]
    total = sum(queue.lease_counts)
    most = max(queue.lease_counts, default=0)
    bar = max(width - 18, 4)
    last = len(queue.lease_counts) - 1
    for times, count in enumerate(queue.lease_counts):
        marked = times >= MARKED_FROM and count > 0
        role = "$reject" if marked else "$approve"
        cells = max(round(bar * count / most), 1) if count else 0
        share = _share(count, total)
        name = f"{times}{'+' if times == last else ''}"
        rows.append(
            glue(
                words(f"{'!' if marked else ' '}{name:<3}", f"bold {role}" if marked else "$muted"),
                words("█" * cells, role),
                words(f" {count}", "bold"),
                words(f" {share}", "$muted"),
            )
        )
    often = sum(queue.lease_counts[MARKED_FROM:])
    rows.append(words(f"{MARKED_FROM}+ leases: {often}", "$reject" if often else "$muted"))
    return rows


def _share(count: int, total: int) -> str:
    """Return a share in percent that never calls something nothing."""
    if total == 0 or count == 0:
        return ""
    percent = 100 * count / total
    return "<1%" if percent < 1 else f"{percent:.0f}%"
