// What the shims do with any verilated top module that has `sys_clk` and `sys_rst`.
#pragma once

// A rising edge; the outputs then are those behind it.
template <class Top> void clock_edge(Top &top) {
    top.sys_clk = 1;
    top.eval();
    top.sys_clk = 0;
}

// Four cycles of reset; the outputs then are those of the first cycle without.
template <class Top> void power_up(Top &top) {
    top.sys_clk = 0;
    top.sys_rst = 1;
    for (int i = 0; i < 4; i++) {
        top.eval();
        clock_edge(top);
    }
    top.sys_rst = 0;
    top.eval();
}
