"""Time spans as people say them."""


def told(seconds: float) -> str:
    """About how long, in the unit a person would choose.

    Example:
        >>> told(40), told(150), told(9000)
        ('40 s', '2.5 min', '2.5 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
