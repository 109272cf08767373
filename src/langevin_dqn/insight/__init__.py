"""Small problems with a known answer, which show why the agents do what they do."""
