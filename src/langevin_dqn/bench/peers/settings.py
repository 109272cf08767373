"""Learning settings that every peer shares."""

MEMBERS = 5
BATCH_SIZE = 128
HIDDEN = 50
PRIOR_SCALE = 3.0
LEARNING_RATE = 1e-3
DISCOUNT = 0.99
TARGET_PERIOD = 4
