"""What the tests share."""

import os
import subprocess
from pathlib import Path

import pytest

import supple

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def program():
    """The command line: SUPPLE_BIN, or the one that was built here."""
    found = os.environ.get("SUPPLE_BIN") or ROOT / "target/release/supple"
    if not Path(found).is_file():
        pytest.fail(
            "no command line to compare with: cargo build --release, or set SUPPLE_BIN"
        )

    def run(*words):
        return subprocess.run([str(found), *map(str, words)], check=True, capture_output=True, text=True)

    return run


@pytest.fixture(scope="session")
def male():
    return supple.load("@male")


@pytest.fixture(scope="session")
def scan(male):
    """A skin in metres, standing."""
    return male.vertices, male.faces


@pytest.fixture(scope="session")
def somebody(scan):
    return supple.person(*scan, name="somebody", sex="male", weight=80)
