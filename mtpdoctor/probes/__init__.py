"""What is asked of the machine, each answer a value or the reason why there is none."""
