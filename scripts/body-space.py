#!/usr/bin/env python3
"""Packs the shape spaces and the rig into crates/anatomy/assets.

usage: scripts/body-space.py BODY_FOLDER

BODY_FOLDER holds space_{male,female}.npz and male.glb. Layouts (little-endian): crates/anatomy/src/body_model/asset.rs.
Components after the first WIDE ones are stored in 8 bits: their standard deviation times their largest entry is below
1.6 mm, so rounding moves no vertex by more than 20 micrometres at three standard deviations.
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np

WIDE = 12
folder, assets = Path(sys.argv[1]), Path(__file__).parent.parent / "crates/anatomy/assets"


def weights(path):
    """Joints and weights of the GLB's one primitive."""
    data = path.read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    tree, chunk = json.loads(data[20 : 20 + length]), data[28 + length :]

    def accessor(index, kind):
        entry = tree["accessors"][index]
        view = tree["bufferViews"][entry["bufferView"]]
        start = view.get("byteOffset", 0) + entry.get("byteOffset", 0)
        return np.frombuffer(chunk, kind, entry["count"] * 4, start).reshape(-1, 4)

    attributes = tree["meshes"][0]["primitives"][0]["attributes"]
    return accessor(attributes["JOINTS_0"], np.uint8), accessor(attributes["WEIGHTS_0"], np.float32)


for sex in ("male", "female"):
    space = np.load(folder / f"space_{sex}.npz")
    basis, scale = space["basis"], space["basis_scale"]
    count, joints, components = int(space["n_vertices"]), len(space["joints"]), len(basis)
    narrow = basis[WIDE:].astype(float)
    factor = np.abs(narrow).max(1, keepdims=True) / 127
    scale = np.concatenate([scale[:WIDE], scale[WIDE:] * factor[:, 0]])
    with open(assets / f"space_{sex}.bin", "wb") as out:
        out.write(b"SUPSPC01" + struct.pack("<4I", count, joints, components, WIDE))
        out.write(scale.astype("<f4").tobytes() + space["coeff"].std(0).astype("<f4").tobytes())
        out.write(space["mean"].astype("<f4").tobytes() + basis[:WIDE].astype("<i2").tobytes())
        out.write(np.round(narrow / factor).astype("i1").tobytes())

joint, weight = weights(folder / "male.glb")
faces = space["faces"]
with open(assets / "rig.bin", "wb") as out:
    out.write(b"SUPRIG01" + struct.pack("<3I", count, joints, len(faces)))
    out.write(faces.astype("<u2").tobytes())
    for name, parent in zip(space["joints"], space["parents"]):
        text = str(name).encode()
        out.write(struct.pack("<hB", int(parent), len(text)) + text)
    weight = weight / weight.sum(1, keepdims=True)
    out.write(joint.tobytes() + np.round(weight * 65535).astype("<u2").tobytes())
