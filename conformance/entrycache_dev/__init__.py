"""Tools of contributors, which are not in the wheel: benchmarks, page generators, mutation matrix and the demo."""
