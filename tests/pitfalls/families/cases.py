"""How the modules of this folder are registered."""

CASES = {}


def case(*args, dynamic=None, others=()):
    """Registers a module with the inputs it is exported with, and `others` that it has to be right for as well."""
    def register(cls):
        assert cls.__name__ not in CASES, cls.__name__
        CASES[cls.__name__] = (cls, args, dynamic, others)
        return cls
    return register
