"""Durations as text."""


def format_duration(seconds: float) -> str:
    """A duration in seconds, minutes or hours.

    Examples:
        >>> format_duration(40), format_duration(150), format_duration(9000)
        ('40 s', '2.5 min', '2.5 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
