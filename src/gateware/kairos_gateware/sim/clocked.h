// What the shims do with any verilated top module that has `sys_clk` and `sys_rst`, perhaps `play_clk`, `feed_clk` and
// their resets. Both edges of a clock count (verilate.py): a cycle is one evaluation, and another one before it only if its
// inputs are not those of the cycle before, since behind an edge all has settled.
#pragma once

// There are pulse cores, with clocks of their own.
template <class Top> constexpr bool plays = requires(Top &top) { top.play_clk; };

// What an edge of clocks moves, with the same inputs; a shim may know a shorter way for its top module.
template <class Top> void eval_clocks(Top &top) { top.eval(); }

// An edge of all clocks; the outputs then are those behind it, with the same inputs.
template <class Top> void clock_edge(Top &top) {
    top.sys_clk ^= 1;
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
    if constexpr (plays<Top>) {
        top.play_clk = top.feed_clk = 0;
        top.play_rst = top.feed_rst = 1;
    }
    for (int i = 0; i < 4; i++) {
        top.eval();
        clock_edge(top);
    }
    top.sys_rst = 0;
    if constexpr (plays<Top>) top.play_rst = top.feed_rst = 0;
    top.eval();
}
