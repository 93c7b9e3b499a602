    def forward(self, waves):
        loudest = waves.abs().amax()
        return self.filter(waves / loudest)
