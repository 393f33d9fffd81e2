"""The SU-Servo: samples of an ADC control the amplitudes of frequency synthesisers, in a loop of
1.168 us.

`adc.py` reads a Sampler, `iir.py` computes the filters, `dds.py` writes one or two Urukuls,
`servo.py` joins them into a pipeline. `format.py` has widths and addresses, `model.py` the same
arithmetic in Python. The RTIO channels are in `phy/suservo.py`.
"""
