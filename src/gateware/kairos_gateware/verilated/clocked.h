// Clocking of a verilated top module with `sys_clk` and `sys_rst`, optionally `play_clk`, `feed_clk`, the clocks of parts
// that can be gated, and their resets. Both clock edges are active (verilate.py): a cycle takes one evaluation, preceded by
// another only if its inputs differ from the previous cycle's, since the model has settled after an edge.
#pragma once

// Whether there are pulse cores, which have their own clocks.
template <class Top> constexpr bool plays = requires(Top &top) { top.play_clk; };

// Evaluates a clock edge with unchanged inputs; a shim may specialise this for its top module.
template <class Top> void eval_clocks(Top &top) { top.eval(); }

// Whether there are mostly idle parts, each with its own gated clock; `sim_wakes` selects those to be clocked.
template <class Top> constexpr bool rests = requires(Top &top) { top.sim_wakes; };

// Toggles `sys_clk` and the clocks of the active gated parts, or of all of them.
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

// An edge of all clocks; afterwards the outputs are those after the edge, with the same inputs.
template <class Top> void clock_edge(Top &top, bool all = true) {
    sys_edge(top, all);
    if constexpr (plays<Top>) {
        top.play_clk ^= 1;
        top.feed_clk ^= 1;
    }
    eval_clocks(top);
}

// Four cycles of reset; afterwards the outputs are those of the first cycle without reset.
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
