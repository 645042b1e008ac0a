"""The pictures in docs/: one for each scene, drawn from the real screens, linking to no host."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.shots.__main__ import FOLDER, picture
from tests.shots.scenes import SCENES
from tests.shots.svg import cleaned, linked_hosts

PICTURES = sorted(FOLDER.glob("*.svg"))


def test_every_scene_has_its_picture_and_no_picture_is_left_over() -> None:
    assert {path.stem for path in PICTURES} == {scene.name for scene in SCENES}


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_no_picture_links_to_a_host(path: Path) -> None:
    text = path.read_text()
    assert linked_hosts(text) == []
    ET.fromstring(text)


def test_a_link_would_be_found() -> None:
    assert linked_hosts('<image href="https://cdn.example.org/x.woff"/>')
    assert linked_hosts("@font-face { src: url(//cdn.example.org/x.woff) }")


async def test_a_picture_drawn_now_links_to_no_host_either() -> None:
    scene = next(scene for scene in SCENES if scene.name == "review-80x24")
    svg = await picture(scene)
    assert linked_hosts(svg) == []
    assert "Tuesday" in svg


def test_blank_edges_become_positions() -> None:
    before = (
        '<text class="t-1-r1" x="10" y="5" textLength="50" clip="x">&#160;ab&#160;&#160;</text>'
    )
    after = '<text class="t-1-r1" x="20.0" y="5" textLength="20.0" clip="x">ab</text>'
    assert cleaned(before).strip() == after
