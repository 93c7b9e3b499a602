"""Removes metadata with paths of source files from exported models."""
import onnx


def clean(path):
    """Removes doc strings and metadata from a model, except for the namespaces of nodes."""
    net = onnx.load(path)

    def graph(g):
        g.ClearField("doc_string")
        g.ClearField("metadata_props")
        for v in [*g.input, *g.output, *g.value_info]:
            v.ClearField("metadata_props")
        for n in g.node:
            n.ClearField("doc_string")
            kept = [(p.key, p.value) for p in n.metadata_props if p.key == "namespace"]
            n.ClearField("metadata_props")
            for key, value in kept:
                n.metadata_props.add(key=key, value=value)
            for a in n.attribute:
                for sub in ([a.g] if a.HasField("g") else []) + list(a.graphs):
                    graph(sub)

    graph(net.graph)
    net.ClearField("metadata_props")
    for tensor in net.graph.initializer:
        tensor.ClearField("metadata_props")
    onnx.save(net, path)
