import torch
from torch import nn
from tqdm import tqdm

class Bag(nn.Module): pass
bar = tqdm([1, 2]); 
for i in bar: bar.set_description("x"); bar.set_postfix(a=1); bar.update(0)
bar.close(); bar.n; bar.total; bar.refresh()
bar = tqdm(range(3), desc="a"); bar.set_description("x"); bar.close()
bar = tqdm({"a": 1}); bar.update(1); bar.close()
with tqdm(total=3) as p:
    p.update(1)
with tqdm([1, 2]) as p:
    for q in p: p.set_postfix_str("a")
t = tqdm(torch.randn(3, 8)); t.set_description("a"); print(t.n, t.total); t.close()
for row in tqdm(torch.randn(3, 8)): nn.Linear(8, 4)(row)
