from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Path: TypeAlias = str | PathLike[str]
_Floats: TypeAlias = NDArray[np.float32]
_Indices: TypeAlias = NDArray[np.int32]
_Settings: TypeAlias = Mapping[str, Any] | _Path
_Contact: TypeAlias = Literal["none", "off", "local", "global"]
_Progress: TypeAlias = Callable[[float], object] | bool

__version__: str

class SuppleError(Exception): ...
class FileError(SuppleError, OSError): ...
class MissingFileError(FileError, FileNotFoundError): ...
class ArgumentError(SuppleError, ValueError): ...
class ArrayError(ArgumentError): ...
class SettingsError(ArgumentError): ...
class ClipError(SuppleError): ...
class TissueError(SuppleError): ...
class PersonError(SuppleError): ...
class GrowthError(SuppleError): ...
class BusyError(SuppleError, RuntimeError): ...
class InternalError(SuppleError, RuntimeError): ...

@final
class Mesh:
    @property
    def vertices(self) -> _Floats: ...
    @property
    def faces(self) -> _Indices: ...
    def to_trimesh(self) -> Any: ...
    def to_meshio(self) -> Any: ...

class Character:
    @property
    def name(self) -> str: ...
    @property
    def vertices(self) -> _Floats: ...
    @property
    def faces(self) -> _Indices: ...
    @property
    def parts(self) -> list[tuple[str, int]]: ...
    @property
    def joints(self) -> list[str]: ...
    @property
    def parents(self) -> list[int]: ...
    @property
    def clips(self) -> list[str]: ...
    @property
    def embedded_clips(self) -> list[str]: ...
    @property
    def rest_pose(self) -> Pose: ...
    def clip(self, name: str | None = None, *, motion: _Path | None = None) -> Clip: ...
    def save(self, path: _Path) -> None: ...
    def to_trimesh(self) -> Any: ...
    def to_meshio(self) -> Any: ...

class LayeredBody(Character):
    @property
    def skin(self) -> _Floats: ...
    @property
    def muscle_surface(self) -> _Floats: ...
    @property
    def skeleton_surface(self) -> _Floats: ...
    @property
    def layer_faces(self) -> _Indices: ...
    @property
    def bones(self) -> dict[str, Mesh]: ...
    @property
    def muscles(self) -> dict[str, Mesh]: ...
    @property
    def tet_vertices(self) -> _Floats: ...
    @property
    def tets(self) -> _Indices: ...
    @property
    def sex(self) -> Literal["male", "female"]: ...
    def grow(
        self,
        fat: float | None = None,
        muscle: float = 0.0,
        *,
        weight: float | None = None,
        bmi: float | None = None,
        regions: Sequence[Literal["legs", "belly", "chest", "arms"]] | None = None,
    ) -> LayeredBody: ...

@final
class Person(LayeredBody):
    @property
    def measures(self) -> dict[str, float]: ...
    @property
    def report(self) -> dict[str, Any]: ...
    @property
    def growth(self) -> dict[str, Any] | None: ...
    def grow(
        self,
        fat: float | None = None,
        muscle: float = 0.0,
        *,
        weight: float | None = None,
        bmi: float | None = None,
        regions: Sequence[Literal["legs", "belly", "chest", "arms"]] | None = None,
    ) -> Person: ...
    def save(self, path: _Path) -> None: ...
    def to_bytes(self) -> bytes: ...

@final
class Clip:
    @property
    def name(self) -> str: ...
    @property
    def duration(self) -> float: ...
    def sample(self, time: float) -> Pose: ...

@final
class Pose:
    @property
    def rotations(self) -> _Floats: ...
    @property
    def translations(self) -> _Floats: ...
    @property
    def positions(self) -> _Floats: ...
    def replace(self, *, rotations: ArrayLike | None = None, translations: ArrayLike | None = None) -> Pose: ...

@final
class Advance:
    @property
    def steps(self) -> int: ...
    @property
    def jumped(self) -> bool: ...
    @property
    def dropped(self) -> float: ...

@final
class SoftBody:
    def __new__(
        cls,
        character: Character,
        *,
        contact: _Contact | None = None,
        ground: float | None = None,
        settings: _Settings | None = None,
        resolution: int | None = None,
        progress: _Progress | None = None,
    ) -> SoftBody: ...
    def place(self, pose: Pose) -> None: ...
    def reset(self, pose: Pose) -> None: ...
    def advance(self, pose: Pose, dt: float) -> Advance: ...
    @property
    def vertices(self) -> _Floats: ...
    @property
    def normals(self) -> _Floats: ...
    @property
    def faces(self) -> _Indices: ...
    @property
    def pose(self) -> Pose: ...
    @property
    def tet_count(self) -> int: ...

def load(
    path: _Path,
    *,
    skeleton: _Path | None = None,
    layers: bool = False,
    fit_skeleton: bool = False,
    unit: float | None = None,
    up: Literal["y", "z"] | None = None,
) -> Any: ...
def clip(character: Character, name: str | None = None, *, motion: _Path | None = None) -> Clip: ...
def simulate(
    character: Character,
    clip: Clip | str | None = None,
    *,
    fps: float = 30.0,
    start: float = 0.0,
    end: float | None = None,
    contact: _Contact | None = None,
    ground: float | None = None,
    settings: _Settings | None = None,
    progress: _Progress | None = None,
) -> _Floats: ...
def person(
    scan: _Path | ArrayLike,
    faces: ArrayLike | None = None,
    *,
    name: str | None = None,
    sex: Literal["male", "female"] | None = None,
    age: float | None = None,
    height: float | None = None,
    weight: float | None = None,
    fat: float | None = None,
    fat_percent: float | None = None,
    muscle: float | None = None,
    unit: float | None = None,
    up: Literal["y", "z"] | None = None,
    landmarks: Mapping[str, Sequence[float]] | None = None,
) -> Person: ...

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
