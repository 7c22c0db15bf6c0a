"""Chromium for tests, how they look at a page in it, and a studio that serves one."""

import base64
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from hal.studio.serve import Server

PATIENCE = 60  # seconds, on a busy machine


@contextmanager
def chromium(profile: Path) -> Iterator[Chrome]:
    """Give a browser with a new profile, or skip the test where there is none."""
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("there is no browser, or no driver of it")
    options = ChromeOptions()
    options.binary_location = binary
    quiet = ("background-networking", "component-update", "sync", "gpu", "dev-shm-usage")
    for flag in ("headless=new", "no-sandbox", "no-first-run", *(f"disable-{x}" for x in quiet)):
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options, Service(driver))
    try:
        yield chrome
    finally:
        chrome.quit()


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Have a studio served by a thread."""
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def set_screen(browser: Chrome, width: int, height: int, scheme: str) -> None:
    """Give the window a size, on a phone if it is narrow, and light or dark colours."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def screenshot(browser: Chrome) -> bytes:
    """Return a PNG of the whole page."""
    browser.execute_script("scrollTo(0, 0)")
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    return base64.b64decode(taken["data"])


def wait_for(is_so: Callable[[], Any]) -> Any:
    """Return what somebody waits for, once it is there."""
    end = time.monotonic() + PATIENCE
    while not (found := is_so()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return found
