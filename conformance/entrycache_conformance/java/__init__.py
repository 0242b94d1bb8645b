"""Java from Python: find a JDK, build our Maven modules, assemble the class paths of releases, compile and run."""
