// What the shims do with any verilated top module that has `sys_clk` and `sys_rst`, perhaps `play_clk`, `feed_clk`, those
// of parts that rest, and their resets. Both edges of a clock count (verilate.py): a cycle is one evaluation, and another one before it only if its
// inputs are not those of the cycle before, since behind an edge all has settled.
#pragma once

// There are pulse cores, with clocks of their own.
template <class Top> constexpr bool plays = requires(Top &top) { top.play_clk; };

// What an edge of clocks moves, with the same inputs; a shim may know a shorter way for its top module.
template <class Top> void eval_clocks(Top &top) { top.eval(); }

// There are parts that rest most of the time, each with a clock of its own; `sim_wakes` says which must have it.
template <class Top> constexpr bool rests = requires(Top &top) { top.sim_wakes; };

// An edge of the clock, and of those parts' that do not rest, or of all.
template <class Top> void sys_edge(Top &top, bool all) {
    top.sys_clk ^= 1;
    if constexpr (rests<Top>) {
        const auto wakes = all ? 0x1f : top.sim_wakes;
        top.network_clk ^= wakes & 1;
        top.inputs_clk ^= wakes >> 1 & 1;
        top.analyzer_clk ^= wakes >> 2 & 1;
        top.dma_clk ^= wakes >> 3 & 1;
        top.registers_clk ^= wakes >> 4 & 1;
    }
}

// An edge of all clocks; the outputs then are those behind it, with the same inputs.
template <class Top> void clock_edge(Top &top, bool all = true) {
    sys_edge(top, all);
    if constexpr (plays<Top>) {
        top.play_clk ^= 1;
        top.feed_clk ^= 1;
    }
    eval_clocks(top);
}

// Four cycles of reset; the outputs then are those of the first cycle without.
template <class Top> void power_up(Top &top) {
    top.sys_clk = 0;
    top.sys_rst = 1;
    if constexpr (rests<Top>) top.network_clk = top.inputs_clk = top.analyzer_clk = top.dma_clk = top.registers_clk = 0;
    if constexpr (rests<Top>) top.network_rst = top.inputs_rst = top.analyzer_rst = top.dma_rst = top.registers_rst = 1;
    if constexpr (plays<Top>) {
        top.play_clk = top.feed_clk = 0;
        top.play_rst = top.feed_rst = 1;
    }
    for (int i = 0; i < 4; i++) {
        top.eval();
        clock_edge(top);
    }
    top.sys_rst = 0;
    if constexpr (rests<Top>) top.network_rst = top.inputs_rst = top.analyzer_rst = top.dma_rst = top.registers_rst = 0;
    if constexpr (plays<Top>) top.play_rst = top.feed_rst = 0;
    top.eval();
}
