"""What can go wrong. Every exception of the package is a `SuppleError`."""


class SuppleError(Exception):
    """Something could not be done. The text says what, where and what to do."""


class FileError(SuppleError, OSError):
    """A file could not be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class ArgumentError(SuppleError, ValueError):
    """An argument has a value that it cannot have."""


class ArrayError(ArgumentError):
    """An array has another shape or type than expected, is not finite, or names vertices that do not exist."""


class SettingsError(ArgumentError):
    """Settings are invalid."""


class ClipError(SuppleError):
    """A clip was not found, or cannot be played on the character."""


class TissueError(SuppleError):
    """Tissue could not be built or moved."""


class PersonError(SuppleError):
    """No person could be made of a scan, or something has no layers."""


class GrowthError(SuppleError):
    """A body cannot grow or shrink as asked."""


class BusyError(SuppleError, RuntimeError):
    """Another thread uses the body."""


class InternalError(SuppleError, RuntimeError):
    """A defect of Supple."""
