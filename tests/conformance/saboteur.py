"""A deliberately broken tool: `saboteur.py WAY TOOL ARGUMENTS…` runs the tool with one fault.

This script is started thousands of times, so it imports as little as possible, and implements only the part of
protobuf that it needs to break a model.
"""

import os
import sys

# Field numbers of onnx.proto.
GRAPH, OPSET_IMPORT, DOC_STRING = 7, 8, 6
NODE, INITIALIZER, OUTPUT, VALUE_INFO = 1, 5, 12, 13
VERSION, DATA_TYPE, RAW_DATA = 2, 2, 9
FLOATS = (DATA_TYPE, 1)


def refuses_conversions(tool, arguments):
    if "--opset" not in arguments:
        return run(tool, arguments)
    print("refused: not convertible", file=sys.stderr)
    return 1


def only_relabels(tool, arguments):
    """Changes only the opset version of the model."""
    if "--opset" not in arguments:
        return run(tool, arguments)
    target = int(arguments[arguments.index("--opset") + 1])
    with open(source(arguments), "rb") as file:
        model = fields(file.read())
    write([(number, fields_with(content, VERSION, target) if number == OPSET_IMPORT else content)
           for number, content in model], arguments)
    return 0


def changes_nothing(_tool, arguments):
    with open(source(arguments), "rb") as file:
        write(fields(file.read()), arguments)
    return 0


def writes_nothing(_tool, _arguments):
    return 0


def drops_the_last_node(tool, arguments):
    def drop(graph):
        del graph[max(place for place, (number, _) in enumerate(graph) if number == NODE)]
    return run_and_edit_graph(tool, arguments, drop)


def infers_nothing(tool, arguments):
    def forget(graph):
        graph[:] = [(number, joined(fields(content)[:1]) if number == OUTPUT else content)
                    for number, content in graph if number != VALUE_INFO]
    return run_and_edit_graph(tool, arguments, forget)


def changes_a_weight(tool, arguments):
    """Flips the sign of the last element of each float weight that is stored as raw data."""
    def change(graph):
        for place, (number, content) in enumerate(graph):
            if number == INITIALIZER and FLOATS in (tensor := fields(content)):
                tensor = [(number, data[:-1] + bytes([data[-1] ^ 0x80]) if number == RAW_DATA and data else data)
                          for number, data in tensor]
                graph[place] = (INITIALIZER, joined(tensor))
    return run_and_edit_graph(tool, arguments, change)


def is_never_the_same(tool, arguments):
    return run_and_edit(tool, arguments, lambda model: model.append((DOC_STRING, os.urandom(8).hex().encode())))


def fixes_nothing(tool, arguments):
    return run(tool, [argument for argument in arguments if argument != "--unsafe-fixes"])


def finds_nothing(_tool, _arguments):
    print("[]")
    return 0


def calls_everything_an_error(tool, arguments):
    import subprocess
    done = subprocess.run([tool, *arguments, "--severity", "hint"], capture_output=True, text=True, check=False)
    for level in ("hint", "info", "warning"):
        done.stdout = done.stdout.replace(f'"severity": "{level}"', '"severity": "error"')
    print(done.stdout)
    return done.returncode


def is_slow(tool, arguments):
    sum(range(30_000_000))
    return run(tool, arguments)


def run(tool, arguments) -> int:
    return os.spawnv(os.P_WAIT, tool, [tool, *arguments])


def run_and_edit(tool, arguments, change) -> int:
    """Runs the tool, and applies `change` to the fields of the model that it wrote, if any."""
    status = run(tool, arguments)
    if status == 0 and "-o" in arguments:
        with open(written(arguments), "rb") as file:
            model = fields(file.read())
        change(model)
        write(model, arguments)
    return status


def run_and_edit_graph(tool, arguments, change) -> int:
    def in_model(model):
        for place, (number, content) in enumerate(model):
            if number == GRAPH:
                graph = fields(content)
                change(graph)
                model[place] = (GRAPH, joined(graph))
    return run_and_edit(tool, arguments, in_model)


def source(arguments) -> str:
    return next(argument for argument in arguments if argument.endswith(".onnx"))


def written(arguments) -> str:
    return arguments[arguments.index("-o") + 1]


def write(model, arguments):
    with open(written(arguments), "wb") as file:
        file.write(joined(model))


def fields(message: bytes) -> list:
    """Returns the fields of a message, in order, as (number, content): an int for a varint, else bytes."""
    found, at = [], 0
    while at < len(message):
        tag, at = varint(message, at)
        content, at = varint(message, at)
        if tag & 7 == 2:
            content, at = message[at:at + content], at + content
        found.append((tag >> 3, content))
    return found


def fields_with(message: bytes, number: int, value: int) -> bytes:
    """Returns the message with one integer field changed."""
    return joined([(known, value if known == number else content) for known, content in fields(message)])


def joined(message: list) -> bytes:
    parts = []
    for number, content in message:
        if isinstance(content, int):
            parts += [encoded(number << 3), encoded(content)]
        else:
            parts += [encoded(number << 3 | 2), encoded(len(content)), content]
    return b"".join(parts)


def varint(message: bytes, at: int) -> tuple[int, int]:
    """Decodes the varint at an offset; returns it with the offset after it."""
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def encoded(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


if __name__ == "__main__":
    _, way, its_tool, *its_arguments = sys.argv
    # Each check first asks for the version, to test whether the tool exists.
    asked = "--version" in its_arguments
    sys.exit(run(its_tool, its_arguments) if asked else globals()[way](its_tool, its_arguments))
