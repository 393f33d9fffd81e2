// Applies rows of inputs to a verilated block, one row per cycle (lockstep.py).

#include <cstdint>
#include <cstring>
#include <memory>

#include "Vlockstep.h"
#include "clocked.h"
#include "verilated.h"

extern "C" void lockstep_play(const uint8_t *into, uint8_t *out, uint64_t cycles, uint64_t into_size, uint64_t out_size) {
    VerilatedContext context;
    const auto top_owner = std::make_unique<Vlockstep>(&context, "lockstep");
    Vlockstep &top = *top_owner;
    power_up(top);
    for (uint64_t cycle = 0; cycle < cycles; cycle++) {
        std::memcpy(&top.into, into + cycle * into_size, into_size);
        top.eval();
        std::memcpy(out + cycle * out_size, &top.out, out_size);
        clock_edge(top);
    }
    top.final();
}
