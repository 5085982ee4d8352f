"""Python and the command line give the same bits."""

import struct

import numpy as np
import pytest

import supple


def point_cache(path):
    """Frames of a PC2 file."""
    content = path.read_bytes()
    mark, version, vertices, _, _, frames = struct.unpack_from("<12siiffi", content)
    assert (mark, version) == (b"POINTCACHE2\0", 1)
    return np.frombuffer(content, "<f4", offset=32).reshape(frames, vertices, 3)


@pytest.mark.parametrize("contact", ["none", "local"])
def test_simulate_is_what_skin_writes(program, tmp_path, male, contact):
    written = tmp_path / "jump.pc2"
    mode = "off" if contact == "none" else contact
    program("skin", "@male", "--clip", "jump", "--to", "0.5", "--contact", mode, "-o", written)
    expected = point_cache(written)
    frames = supple.simulate(male, "jump", end=0.5, contact=contact)
    assert frames.shape == expected.shape == (16, len(male.vertices), 3)
    assert np.array_equal(frames, expected)
    assert np.abs(frames[-1] - frames[0]).max() > 0.05, "it moves"


def test_a_stepped_body_is_what_simulate_gives(male):
    jump = male.clip("jump")
    frames = supple.simulate(male, jump, fps=60, end=0.1)
    body = supple.SoftBody(male)
    body.place(jump.sample(0))
    assert np.array_equal(body.vertices, frames[0])
    for frame in range(1, 7):
        time = np.float32(frame) / np.float32(60)
        body.advance(jump.sample(float(time)), float(time - np.float32(frame - 1) / np.float32(60)))
        assert np.allclose(body.vertices, frames[frame], atol=1e-5)


def test_a_person_is_what_person_writes(program, tmp_path, male, somebody):
    scan = tmp_path / "somebody.obj"
    male_obj(scan, male)
    out = tmp_path / "somebody.person"
    program("person", scan, "--sex", "male", "--weight", "80", "-o", out)
    theirs = supple.load(out)
    ours = supple.person(scan, sex="male", weight=80)
    assert (ours.name, theirs.name) == ("somebody", "somebody")
    for mine in [ours, somebody]:
        same_person(mine, theirs)


def test_growth_is_what_grow_writes(program, tmp_path, somebody):
    before = tmp_path / "somebody.person"
    somebody.save(before)
    out = tmp_path / "grown.person"
    program("grow", before, "--fat", "+5", "--muscle", "1", "-o", out)
    same_person(somebody.grow(fat=+5, muscle=1), supple.load(out))


def male_obj(path, character):
    """The skin as a file, every digit of it."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in character.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in character.faces.tolist()]
    path.write_text("\n".join(lines) + "\n")


def same_person(ours, theirs):
    for name in ["skin", "muscle_surface", "skeleton_surface", "layer_faces", "tets", "tet_vertices"]:
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    for meshes in ["bones", "muscles"]:
        mine, other = getattr(ours, meshes), getattr(theirs, meshes)
        assert list(mine) == list(other)
        for name, mesh in mine.items():
            assert np.array_equal(mesh.vertices, other[name].vertices), name
            assert np.array_equal(mesh.faces, other[name].faces), name
    assert ours.measures == theirs.measures
    assert ours.report["composition"] == theirs.report["composition"]
