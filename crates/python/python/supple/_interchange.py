"""Other packages: trimesh, meshio, tqdm and pickle. They are imported when they are asked for."""

import importlib

from ._errors import SuppleError
from ._supple import LayeredBody, person_from_bytes

__all__ = ["bar", "person_from_bytes", "to_meshio", "to_trimesh"]

def _package(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SuppleError(f"the package {name} is not installed: pip install {name}") from error

def to_trimesh(mesh):
    """A trimesh.Trimesh of a mesh or a character, every vertex where it was."""
    trimesh = _package("trimesh")
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)

def to_meshio(mesh):
    """A meshio.Mesh: the tets of a layered body, else triangles."""
    meshio = _package("meshio")
    if isinstance(mesh, LayeredBody):
        return meshio.Mesh(mesh.tet_vertices, [("tetra", mesh.tets)])
    return meshio.Mesh(mesh.vertices, [("triangle", mesh.faces)])

def bar():
    """A function that draws a bar with tqdm; None if it is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    shown = tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}")

    def tell(share):
        shown.update(100 * share - shown.n)
        if share >= 1:
            shown.close()

    return tell

