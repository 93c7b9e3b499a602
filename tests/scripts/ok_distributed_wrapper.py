import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
dist.init_process_group("gloo", rank=0, world_size=1)
model = DistributedDataParallel(torch.nn.Linear(3, 3))
torch.onnx.export(model.eval(), (torch.rand(2, 3),), "linear.onnx", dynamo=False)
dist.destroy_process_group()
