padded_steps = padded_steps + 2
