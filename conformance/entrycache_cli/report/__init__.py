"""Reports of results for people and machines: terminal, JSON, JUnit, HTML, Markdown and badge."""
