"""`python -m tests.shots [NAME ...]`: draw the screens anew into docs/screens."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.shots.scenes import SCENES, WAIT, Scene
from tests.shots.svg import cleaned, linked_hosts
from tests.tui.drive import ARMED, Clock, application, press, running
from tests.tui.fake_server import FakeServer

FOLDER = Path(__file__).parents[2] / "docs" / "screens"


async def picture(scene: Scene) -> str:
    """Return one screen as SVG."""
    server = FakeServer(list(scene.items))
    if scene.prepare is not None:
        scene.prepare(server)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        app = application(server, Path(folder), clock, **scene.options)
        async with running(app, scene.size) as pilot:
            for key in scene.keys:
                if key == WAIT:
                    await pilot.pause(ARMED)
                else:
                    await press(pilot, key)
            clock.now += 3
            await pilot.pause(0.3)
            app.screen.repaint()  # type: ignore[attr-defined]  # both of our screens have it
            await pilot.pause(0.1)
            return cleaned(app.export_screenshot(title="fencepost"))


def main(names: list[str]) -> int:
    """Draw the scenes named, or all; return how many pictures link to a host."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    FOLDER.mkdir(parents=True, exist_ok=True)
    linked = 0
    for scene in SCENES:
        if names and scene.name not in names:
            continue
        svg = asyncio.run(picture(scene))
        linked += bool(linked_hosts(svg))
        (FOLDER / f"{scene.name}.svg").write_text(svg)
        print(f"docs/screens/{scene.name}.svg")
    return linked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
