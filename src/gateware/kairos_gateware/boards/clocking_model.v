// Behaviour of the cells that boards/clocking.py uses, for its test (7-series; UG472).
// MMCME2_ADV: locks to the selected input after 100 of its periods. Before, CLKOUT0 has pulses of 0.5 ns, worse than a real
// one's. 20 ns after the input has stopped the lock is lost; CLKOUT0 goes on, faster by a quarter (an assumption: UG472
// says nothing of it). During a reset the outputs are low.
// BUFGCE: CE counts while I is low. BUFG: a wire.
`timescale 1ns / 1ps

module BUFG(input I, output O);
    assign O = I;
endmodule

module BUFGCE(input I, CE, output O);
    reg gate = 0;
    always @(I or CE) if (!I) gate = CE;
    assign O = I & gate;
endmodule

module FDCE(input C, CE, CLR, D, output reg Q);
    initial Q = 0;
    always @(posedge C or posedge CLR) Q <= CLR ? 1'b0 : D;
endmodule

module FDPE #(parameter INIT = 1) (input C, CE, PRE, D, output reg Q);
    initial Q = 1;
    always @(posedge C or posedge PRE) Q <= PRE ? 1'b1 : D;
endmodule

module MMCME2_ADV #(
    parameter real CLKFBOUT_MULT_F = 0, CLKIN1_PERIOD = 0, CLKIN2_PERIOD = 0, CLKOUT0_DIVIDE_F = 0,
    parameter integer CLKOUT1_DIVIDE = 0, parameter COMPENSATION = ""
) (
    input CLKFBIN, CLKIN1, CLKIN2, CLKINSEL, DCLK, DEN, DWE, PSCLK, PSEN, PSINCDEC, PWRDWN, RST,
    input [6:0] DADDR, input [15:0] DI,
    output CLKFBOUT, CLKOUT1, output reg CLKOUT0, output reg LOCKED
);
    wire source = CLKINSEL ? CLKIN1 : CLKIN2;
    realtime edge_time = -1000, period = 0;
    integer periods = 0;
    assign CLKFBOUT = CLKOUT0;
    assign CLKOUT1 = 0;
    initial begin CLKOUT0 = 0; LOCKED = 0; end
    always @(posedge source) begin
        period = $realtime - edge_time;
        edge_time = $realtime;
        if (!RST && periods < 100) periods = periods + 1;
    end
    reg wild = 0, coasting = 0, coast = 0;
    always #0.5 begin
        wild = !wild;
        if (RST) {coasting, periods, LOCKED} = 0;
        else if ($realtime - edge_time > 20) {periods, LOCKED} = 0;
        else if (periods >= 100) LOCKED = 1;
        if (LOCKED && $realtime - edge_time > 9 && !coasting) begin
            coast = CLKOUT0;
            coasting = 1;
        end
    end
    always @(posedge coasting) while (coasting) #3.2 coast = !coast;
    always @(source or wild or coast or RST or LOCKED or coasting)
        if (RST) CLKOUT0 = 0;
        else if (coasting) CLKOUT0 = coast;
        else if (LOCKED) CLKOUT0 = source;
        else CLKOUT0 = $realtime - edge_time < 20 ? wild : 0;
endmodule
