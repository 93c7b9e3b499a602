    def forward(self, waves):
        loudest = waves.abs().max().item()
        return self.filter(waves / loudest)
