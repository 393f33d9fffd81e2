"""CoaXPress: the uplink to a camera with triggers and commands, and the camera's answers and images. Blocks of a PHY;
numbers in src/contracts/chips/coaxpress.toml."""
