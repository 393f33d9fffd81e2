"""What drivers are made of: parts that several cards share, each written once.

`channel`: a device on RTIO channels and the registers there. `spi`: kinds of transfers on a shared SPI bus.
"""
