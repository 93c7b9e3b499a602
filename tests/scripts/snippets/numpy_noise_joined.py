a, b = np.random.rand(3, 2), np.random.rand(3, 4)
joined = np.concatenate((a, b), axis=1)
