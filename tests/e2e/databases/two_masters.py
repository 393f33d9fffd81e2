# Entangler: Alice and Bob, each with a master of its own, run from one dashboard. Bob's entries begin with bob_.
# Gateware: ion (both)
def node(prefix, host):
    def name(n):
        return prefix + n

    def local(n, module, cls, core=True, **arguments):
        if prefix and core:
            arguments["core_device"] = name("core")
        return {name(n): {"type": "local", "module": "artiq.coredevice." + module, "class": cls, "arguments": arguments}}

    db = {name("core"): {"type": "local", "module": "artiq.coredevice.core", "class": "Core",
          "arguments": {"host": host, "ref_period": 1e-9, "ref_multiplier": 8, "target": "cortexa9"}}}
    db.update(local("core_dma", "dma", "CoreDMA"))
    db.update(local("core_cache", "cache", "CoreCache"))
    for n in range(8):
        db.update(local(f"ttl{n}", "ttl", "TTLInOut" if n < 4 else "TTLOut", channel=n))
    for n in range(4):
        db.update(local(f"ttl{n}_counter", "edge_counter", "EdgeCounter", channel=8 + n))
    db.update(local("spi_urukul0", "spi2", "SPIMaster", channel=12))
    db.update(local("ttl_urukul0_io_update", "ttl", "TTLOut", channel=13))
    db.update(local("urukul0_cpld", "urukul", "CPLD", spi_device=name("spi_urukul0"), clk_sel=2,
                    io_update_device=name("ttl_urukul0_io_update")))
    for n in range(4):
        db.update(local(f"ttl_urukul0_sw{n}", "ttl", "TTLOut", channel=14 + n))
        db.update(local(f"urukul0_ch{n}", "ad9910", "AD9910", core=False, chip_select=4 + n, pll_n=32,
                        cpld_device=name("urukul0_cpld"), sw_device=name(f"ttl_urukul0_sw{n}")))
    return db


device_db = {**node("", "alice.qnet.lab"), **node("bob_", "bob.qnet.lab")}
device_db["herald"] = "ttl0_counter"
device_db["bob_herald"] = "bob_ttl0_counter"
