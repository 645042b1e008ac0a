"""A terminal that was stopped past its lease (cases 13): one clear message, and a way on."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.fake_server import FakeServer
from tests.tui.test_pty import begun, started

pytestmark = pytest.mark.slow
EVERY_KEY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 /?:\t"


def test_stopped_past_the_lease_it_says_so_once_and_every_key_is_harmless(tmp_path: Path) -> None:
    fake = FakeServer([samples.evidence(), samples.kyc()])
    fake.lease_options = {"expires_in_ms": 3_000, "ttl_ms": 180_000}
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        begun(terminal)
        terminal.press("c", *"seen", "\r")
        terminal.process.send_signal(signal.SIGSTOP)
        fake.lose(now="leased", holder="d.chen", since="2026-11-28T14:05:30Z")
        fake.lease_options = {}
        time.sleep(6)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait_for_text("d.chen has had it since 14:05:30.")
        claims = sum(call.endswith("claim") for call in fake.calls)
        time.sleep(0.5)
        terminal.press(*EVERY_KEY, "\x1b", gap=0.06)
        for words in ("This item is not in your hands any more", "“seen”"):
            assert words in "\n".join(terminal.display())
        assert not fake.verdicts
        assert not fake.released
        assert sum(call.endswith("claim") for call in fake.calls) == claims, "nothing by itself"
        terminal.press("\r")
        begun(terminal, "kyc-2041")
        terminal.press("D")
        terminal.wait_for_text("“seen”")
        terminal.press("\x1b", gap=0.5)
        terminal.press("r", "1", gap=0.3)
        terminal.wait_for(lambda: fake.verdicts)
        terminal.wait_for_text("✓ REJECT")
        terminal.press("\x11")
        terminal.wait_for_text("ctrl+q again")  # a note is left that went nowhere
        terminal.press("\x11")
        assert terminal.end() == 0


def test_a_key_typed_at_once_on_waking_decides_nothing(tmp_path: Path) -> None:
    fake = FakeServer([samples.evidence(), samples.kyc()])
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        begun(terminal)
        terminal.process.send_signal(signal.SIGSTOP)
        fake.lose(now="resolved")
        terminal.type("r")
        time.sleep(0.2)
        terminal.type("1")
        terminal.process.send_signal(signal.SIGCONT)
        time.sleep(1.5)
        assert not fake.verdicts
        assert terminal.process.poll() is None
