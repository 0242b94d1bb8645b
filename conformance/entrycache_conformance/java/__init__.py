"""Java from Python: finding a JDK, building our Maven modules, the class paths of releases, compiling and running."""
