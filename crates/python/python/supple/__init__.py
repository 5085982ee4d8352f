"""Soft tissue for characters, and layered anatomy from body scans.

Arrays are numpy's: positions float32 (N, 3) in metres with Y up, in the file's own order; faces int32 (F, 3).

>>> import supple
>>> hero = supple.load("@male")
>>> frames = supple.simulate(hero, "jump", fps=10, end=0.3)
>>> frames.shape == (4, *hero.vertices.shape), frames.dtype
(True, dtype('float32'))
"""

from ._errors import (
    ArgumentError,
    ArrayError,
    BusyError,
    ClipError,
    FileError,
    GrowthError,
    InternalError,
    MissingFileError,
    PersonError,
    SettingsError,
    SuppleError,
    TissueError,
)
from ._supple import (
    Advance,
    Character,
    Clip,
    LayeredBody,
    Mesh,
    Person,
    Pose,
    SoftBody,
    __version__,
    clip,
    load,
    person,
    simulate,
)

__all__ = [
    "Advance",
    "ArgumentError",
    "ArrayError",
    "BusyError",
    "Character",
    "Clip",
    "ClipError",
    "FileError",
    "GrowthError",
    "InternalError",
    "LayeredBody",
    "Mesh",
    "MissingFileError",
    "Person",
    "PersonError",
    "Pose",
    "SettingsError",
    "SoftBody",
    "SuppleError",
    "TissueError",
    "__version__",
    "clip",
    "load",
    "person",
    "simulate",
]
