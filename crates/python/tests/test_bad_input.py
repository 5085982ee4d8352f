"""What is wrong is an exception that says so."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import supple


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("vertices", "faces", "text"),
    [
        (np.zeros((4, 2)), None, r"shape \(N, 3\).*\(4, 2\)"),
        (np.zeros(12), None, r"shape \(N, 3\)"),
        (np.zeros((0, 3)), None, "empty"),
        ([[1, 2, 3], [4, 5]], None, "vertices"),
        (np.array([["a", "b", "c"]]), None, "numbers were expected"),
        (np.zeros((4, 3), complex), None, "complex"),
        (np.zeros((4, 3), object), None, "object"),
        (changed(np.ones((4, 3)), (2, 1), np.nan), None, "row 2 is not finite"),
        (changed(np.ones((4, 3)), (2, 1), 1e300), None, "row 2 is not finite"),
        (np.ones((4, 3)), [[0, 1, 4]], "vertex 4, but there are 4"),
        (np.ones((4, 3)), [[0, 1, -1]], "vertex -1"),
        (np.ones((4, 3)), np.array([[0, 1, 2**63]], np.uint64), "there are 4"),
        (np.ones((4, 3)), [[0.0, 1.0, 2.0]], "whole numbers"),
        (np.ones((4, 3)), [[0, 1, 2, 3]], r"shape \(N, 3\)"),
        (None, None, "numbers were expected"),
    ],
)
def test_arrays(vertices, faces, text):
    with pytest.raises(supple.ArrayError, match=text):
        supple.person(vertices, faces)


def test_any_layout_of_an_array_is_taken(scan, somebody):
    vertices, faces = scan
    wide = np.zeros((2 * len(vertices), 6))
    wide[::2, ::2] = vertices
    strided = wide[::2, ::2]
    strided.flags.writeable = False
    fortran = np.asfortranarray(faces[:, :].astype(np.uint16 if len(vertices) < 65536 else np.uint32))
    other = supple.person(strided, fortran, name="somebody", sex="male", weight=80)
    assert np.array_equal(other.skin, somebody.skin)


def test_a_scan_of_nobody():
    with pytest.raises(supple.PersonError):
        supple.person(np.random.default_rng(1).random((500, 3)))
    with pytest.raises(supple.SuppleError):
        supple.person(np.zeros((10, 3)), [[0, 0, 0]])


@pytest.mark.parametrize("weight", [-5.0, float("nan"), float("inf"), 0.0])
def test_a_weight_that_nobody_has(scan, weight):
    with pytest.raises(supple.SuppleError):
        supple.person(*scan, sex="male", weight=weight)


def test_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        supple.load(tmp_path / "missing.glb")
    with pytest.raises(supple.MissingFileError):
        supple.person(tmp_path / "missing.ply")
    with pytest.raises(FileNotFoundError):
        supple.load(tmp_path / "missing.person")
    for name in ["bad.glb", "bad.ply", "bad.person", "bad.template", "bad.fbx"]:
        (tmp_path / name).write_bytes(b"\0rubbish")
        with pytest.raises(supple.FileError):
            supple.load(tmp_path / name)
    with pytest.raises(OSError):
        supple.load("hero.unknown")
    with pytest.raises(supple.FileError):
        supple.load("@nobody")
    with pytest.raises(TypeError):
        supple.load(3)
    with open(__file__) as closed:
        pass
    with pytest.raises(supple.SuppleError):
        supple.person(closed)


def test_clips_and_times(male):
    with pytest.raises(supple.ClipError, match="no clip 'nothing'"):
        male.clip("nothing")
    for arguments in [{"fps": 0}, {"fps": float("nan")}, {"end": -1}, {"start": 2, "end": 1}, {"end": float("inf")}]:
        with pytest.raises(supple.ArgumentError):
            supple.simulate(male, "jump", **arguments)
    with pytest.raises(supple.ClipError, match="too long|16 GB"):
        supple.simulate(male, "jump", end=1e6)
    with pytest.raises(supple.ArgumentError):
        supple.simulate(male, 3)
    with pytest.raises(supple.ArgumentError):
        male.clip("jump").sample(float("nan"))


def test_settings(male):
    for settings in [{"tissue": {"stifness": 1.0}}, {"tissue": {"stiffness": float("nan")}}, {"a": object()}, 3]:
        with pytest.raises(supple.SettingsError):
            supple.SoftBody(male, settings=settings)
    with pytest.raises(FileNotFoundError):
        supple.SoftBody(male, settings="missing.toml")
    with pytest.raises(supple.ArgumentError):
        supple.SoftBody(male, contact="total")
    with pytest.raises(supple.ArgumentError):
        supple.SoftBody(male, ground=float("nan"))
    with pytest.raises(supple.SuppleError):
        supple.SoftBody(male, settings={"tissue": {"stiffness": -1.0}})


def test_poses(male):
    body = supple.SoftBody(male, resolution=500)
    rest = male.rest_pose
    with pytest.raises(supple.ArrayError, match="rows were expected"):
        rest.replace(rotations=np.zeros((2, 4)))
    with pytest.raises(supple.ArrayError, match="no quaternion"):
        rest.replace(rotations=np.zeros_like(rest.rotations))
    with pytest.raises(supple.ArrayError, match="not finite"):
        rest.replace(translations=np.full_like(rest.translations, np.inf))
    with pytest.raises(TypeError):
        body.advance(rest.rotations, 0.1)
    for dt in [-1.0, float("nan"), float("inf")]:
        with pytest.raises(supple.ArgumentError):
            body.advance(rest, dt)
    far = rest.replace(translations=rest.translations + 1e30)
    try:
        body.advance(far, 0.01)
    except supple.SuppleError as error:
        assert not isinstance(error, supple.InternalError)


def test_growth(somebody):
    for arguments in [{"fat": float("nan")}, {"fat": -70}, {"fat": 1, "weight": 90}, {"regions": ["nose"], "fat": 1}]:
        with pytest.raises(supple.SuppleError) as caught:
            somebody.grow(**arguments)
        assert not isinstance(caught.value, supple.InternalError)


def test_a_damaged_pickle(somebody):
    content = bytearray(somebody.to_bytes())
    content[len(content) // 2] ^= 255
    from supple._interchange import person_from_bytes

    with pytest.raises(supple.FileError, match="damaged"):
        person_from_bytes(bytes(content))


def test_two_threads_on_one_body(male):
    """One of them waits for nobody, and gets an exception; the other goes on."""
    body = supple.SoftBody(male, contact="global")
    jump = male.clip("jump")
    caught, done = [], []

    def step():
        for frame in range(20):
            try:
                body.advance(jump.sample(frame / 60), 1 / 60)
                done.append(frame)
            except supple.BusyError as error:
                caught.append(error)

    threads = [threading.Thread(target=step) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert caught and done and len(caught) + len(done) == 80
    body.advance(jump.sample(0), 1 / 60)
    assert np.isfinite(body.vertices).all()


def test_other_threads_run_meanwhile(male):
    """A call that took the interpreter's lock would stop the counting."""
    count, end = 0, threading.Event()

    def counting():
        nonlocal count
        while not end.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=counting)
    thread.start()
    supple.simulate(male, "jump", end=0.5, contact="local")
    end.set()
    thread.join()
    assert count > 20


@pytest.mark.parametrize("call", ["simulate", "person"])
def test_ctrl_c_interrupts(male, scan, call):
    calls = {
        "simulate": lambda: supple.simulate(male, "squat", fps=1000, contact="global"),
        "person": lambda: supple.person(*scan),
    }
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        calls[call]()
    timer.join()
    assert len(supple.simulate(male, "jump", end=0.1)) == 4, "the package still works"


def test_progress(male):
    shares = []
    supple.simulate(male, "jump", end=0.3, progress=shares.append)
    assert shares == sorted(shares) and len(shares) > 5 and shares[-1] == 1
    building = []
    supple.SoftBody(male, progress=building.append)
    assert building and building[-1] <= 1
    supple.simulate(male, "jump", end=0.1, progress=True)
    with pytest.raises(supple.ArgumentError):
        supple.simulate(male, "jump", end=0.1, progress="loud")


def test_an_exception_in_the_progress_ends_the_call(male):
    def fail(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        supple.simulate(male, "jump", progress=fail)
