"""Refinement: along the graph of a world a fast cache goes where the reference goes."""
