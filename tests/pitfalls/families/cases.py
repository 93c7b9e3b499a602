"""The registry of the modules in this folder."""

CASES = {}


def case(*args, dynamic=None, others=()):
    """Registers a module with its example inputs, and with `others`: further inputs to test the export on."""
    def register(cls):
        assert cls.__name__ not in CASES, cls.__name__
        CASES[cls.__name__] = (cls, args, dynamic, others)
        return cls
    return register
