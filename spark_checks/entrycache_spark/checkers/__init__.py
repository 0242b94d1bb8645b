"""What the folds of all systems are made of."""
