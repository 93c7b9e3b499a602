import timm
import torch


def main(name="mobilenetv3_small_050", size=64):
    model = timm.create_model(name, pretrained=False, num_classes=0, exportable=True)
    model.eval()
    x = torch.randn(2, 3, size, size)
    torch.onnx.export(model, x, f"{name}.onnx", input_names=["x"], output_names=["features"], opset_version=16,
                      dynamic_axes={"x": {0: "batch"}, "features": {0: "batch"}}, dynamo=False)


if __name__ == "__main__":
    main()
