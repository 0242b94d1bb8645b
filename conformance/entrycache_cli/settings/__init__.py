"""Reading settings: files of Java properties, and the values in them. What a setting does is its system's."""
