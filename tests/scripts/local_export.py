import torch


def checked(net):
    assert isinstance(net, torch.nn.Module), f"{type(net)} is no module"
    return net.eval()


def export(net, example, path, batch_axis=0, **more):
    names = {"input_names": ["x"], "output_names": ["y"]}
    axes = {name: {batch_axis: "batch"} for names_ in names.values() for name in names_}
    torch.onnx.export(net, (example,), path, dynamic_axes=axes, dynamo=False, **names, **more)
