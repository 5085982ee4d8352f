"""The program of the page runs as it is printed."""

import re

import pytest

import supple
from conftest import ROOT


def test_a_scan_becomes_a_plot(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="not installed").use("Agg")
    page = (ROOT / "docs/python.md").read_text()
    program = re.search(r"```python\n(.*?)```", page, re.S)[1]
    lines = [line for line in program.splitlines() if line.strip()]
    assert len(lines) <= 15
    supple.load("@female").save(tmp_path / "scan.ply")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "docs/python.md", "exec"), {})
    assert (tmp_path / "belly.png").stat().st_size > 5000
    heavier = supple.load(tmp_path / "heavier.person")
    assert heavier.report["composition"]["weight"]["value"] > 70
