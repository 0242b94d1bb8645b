"""What people and machines read of a run."""
