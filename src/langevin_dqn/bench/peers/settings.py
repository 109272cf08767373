"""Learning settings that every peer shares."""

MEMBERS = 5
PRIOR_SCALE = 3.0
LEARNING_RATE = 1e-3
DISCOUNT = 0.99
TARGET_PERIOD = 4
