"""Objects, their arrays, and what they become."""

import doctest
import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import supple


def test_arrays_have_the_documented_types(male):
    assert male.vertices.dtype == np.float32 and male.faces.dtype == np.int32
    count = len(male.vertices)
    assert male.vertices.shape == (count, 3) and male.faces.shape[1] == 3
    assert male.faces.min() == 0 and male.faces.max() == count - 1
    assert 1.5 < np.ptp(male.vertices[:, 1]) < 2, "metres, Y up"
    assert sum(vertices for _, vertices in male.parts) == count
    assert len(male.parents) == len(male.joints) and male.parents[0] == -1


def test_normals_are_unit_and_outward(male):
    body = supple.SoftBody(male, resolution=1000)
    body.place(male.rest_pose)
    assert np.allclose(np.linalg.norm(body.normals, axis=1), 1, atol=1e-4)
    head = body.vertices[:, 1].argmax()
    assert body.normals[head, 1] > 0.5


def test_soles_lie_on_the_ground(male):
    lowest = []
    for ground in [None, 0.005]:
        body = supple.SoftBody(male, ground=ground)
        body.place(male.rest_pose)
        lowest.append(body.vertices[:, 1].min())
    assert lowest[0] < 0.001 and lowest[1] > 0.004, lowest


def test_settings_are_a_dict_or_a_file(male, tmp_path):
    soft = {"tissue": {"stiffness": 500.0}}
    file = tmp_path / "soft.toml"
    file.write_text("[tissue]\nstiffness = 500.0\n")
    frames = [supple.simulate(male, "jump", end=0.2, settings=s) for s in [None, soft, file, str(file)]]
    assert not np.array_equal(frames[0], frames[1])
    assert np.array_equal(frames[1], frames[2]) and np.array_equal(frames[1], frames[3])


def test_settings_beside_the_file_are_taken(male, tmp_path):
    file = tmp_path / "hero.glb"
    male.save(file)
    plain = supple.simulate(supple.load(file), "jump", end=0.1)
    (tmp_path / "hero.supple.toml").write_text("[tissue]\nstiffness = 500.0\n")
    assert not np.array_equal(plain, supple.simulate(supple.load(file), "jump", end=0.1))


def test_poses_turn_joints(male):
    rest = male.rest_pose
    turned = rest.rotations
    joint = next(k for k, name in enumerate(male.joints) if "elbow" in name.lower() or "lowerarm" in name.lower())
    turned[joint] = [0, np.sin(0.5), 0, np.cos(0.5)]
    pose = rest.replace(rotations=turned)
    assert not np.allclose(pose.positions, rest.positions, atol=0.01)
    assert np.array_equal(rest.rotations, male.rest_pose.rotations), "the old pose stays"


def test_layers_lie_inside_each_other(somebody):
    assert type(somebody) is supple.Person and isinstance(somebody, supple.Character)
    depth = np.linalg.norm(somebody.skin - somebody.skeleton_surface, axis=1)
    assert depth.max() > 0.05
    corners = somebody.tet_vertices.astype(float)[somebody.tets]
    edges = corners[:, :3] - corners[:, 3:]
    assert np.abs(np.linalg.det(edges)).sum() / 6 > 0.03, "litres of tissue"
    assert somebody.report["composition"]["weight"]["value"] == 80
    assert somebody.measures["height"] == pytest.approx(np.ptp(somebody.skin[:, 1]), abs=0.01)


def test_growth_adds_kilograms(somebody):
    heavier = somebody.grow(fat=+10)
    before, after = (p.report["composition"]["fat_mass"]["value"] for p in [somebody, heavier])
    assert abs(after - before - 10) < 0.5
    assert heavier.growth["asked"][0] == 10 and somebody.growth is None


def test_persons_are_saved_loaded_and_pickled(somebody, tmp_path):
    file = tmp_path / "somebody.person"
    somebody.save(file)
    for other in [supple.load(file), pickle.loads(pickle.dumps(somebody))]:
        assert type(other) is supple.Person
        assert np.array_equal(other.skin, somebody.skin)
        assert other.report["composition"] == somebody.report["composition"]
        assert other.to_bytes() == somebody.to_bytes() == file.read_bytes()


def test_persons_are_simulated_with_their_layers(somebody):
    layered = supple.simulate(somebody, "jump", end=0.1)
    assert np.isfinite(layered).all()
    assert layered.shape == (4, len(somebody.vertices), 3)


def test_other_packages_get_every_vertex(male):
    trimesh = pytest.importorskip("trimesh", reason="not installed")
    mesh = male.to_trimesh()
    assert isinstance(mesh, trimesh.Trimesh) and len(mesh.vertices) == len(male.vertices)


def test_tets_go_to_meshio(somebody):
    pytest.importorskip("meshio", reason="not installed")
    (block,) = somebody.to_meshio().cells
    assert block.type == "tetra" and np.array_equal(block.data, somebody.tets)


def documented():
    """Everything public with a text."""
    for name in supple.__all__:
        thing = getattr(supple, name)
        yield name, thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value


def test_everything_is_documented():
    missing = [name for name, thing in documented() if not (getattr(thing, "__doc__", "") or "").strip()]
    assert missing == []


def test_examples_run():
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    things = [("supple", supple), *documented()]
    texts = [(name, thing.__doc__ or "") for name, thing in things if not isinstance(thing, str)]
    for name, text in texts:
        test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
        runner.run(test)
    assert runner.tries > 20 and runner.failures == 0


def test_stubs_are_true():
    words = [sys.executable, "-m", "mypy.stubtest", "supple", "--ignore-disjoint-bases"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_types_are_found(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import supple\n"
        "anna = supple.person('anna.ply', sex='female')\n"
        "reveal_type(anna.grow(fat=3).skin)\n"
        "anna.grow(fat='much')\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", program], capture_output=True, text=True)
    assert "ndarray" in done.stdout and "float32" in done.stdout.lower() or "floating" in done.stdout, done.stdout
    assert done.stdout.count("error:") == 1 and 'incompatible type "str"' in done.stdout, done.stdout


def test_a_forked_process_has_threads_of_its_own(male):
    assert len(male.vertices)
    supple.simulate(male, "jump", end=0.05)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if supple.simulate(male, "jump", end=0.05).shape[0] == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
