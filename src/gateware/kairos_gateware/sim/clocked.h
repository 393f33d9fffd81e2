// What the shims do with any verilated top module that has `sys_clk` and `sys_rst`, perhaps `play_clk`, `feed_clk` and
// their resets.
#pragma once

// There are pulse cores, with clocks of their own, of which both edges count.
template <class Top> constexpr bool plays = requires(Top &top) { top.play_clk; };

// A rising edge of all clocks; the outputs then are those behind it.
template <class Top> void clock_edge(Top &top) {
    top.sys_clk = 1;
    if constexpr (plays<Top>) {
        top.play_clk ^= 1;
        top.feed_clk ^= 1;
    }
    top.eval();
    top.sys_clk = 0;
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
