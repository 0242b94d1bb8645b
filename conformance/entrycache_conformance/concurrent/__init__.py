"""Level `concurrent`: histories of several threads, played, judged by what is promised, and shrunk."""
