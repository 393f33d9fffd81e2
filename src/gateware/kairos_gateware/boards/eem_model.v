// Behaviour of the cells that boards/eem.py uses, for its test (7-series; UG471 chapters 2 and 3, UG472).
// OSERDESE2, SDR: the word sampled at an edge of CLKDIV leaves from the next edge on, D1 first, a bit in 1.6 ns.
// IDELAYE2, VAR_LOAD: DATAOUT is later by 0.6 ns and 75 ps a tap; CNTVALUEIN is taken at an edge of C with LD.
// ISERDESE2, DDR, 10 wide: a sample each 0.8 ns. Q8 to Q1 of the master are the last eight of a cycle, in time; the first
// two come from its SHIFTOUTs to the slave's Q4 and Q3.
// PLLE2_BASE: locks 50 cycles after its input has begun; the fast clocks are not drawn, since the cells have times.
// IDELAYCTRL: ready 10 ns after its reset.
`timescale 1ps / 1ps

module OSERDESE2 #(
    parameter DATA_RATE_OQ = "", DATA_RATE_TQ = "", SERDES_MODE = "",
    parameter integer DATA_WIDTH = 0, TRISTATE_WIDTH = 0
) (
    input CLK, CLKDIV, RST, OCE, TCE, T1, T2, T3, T4, TBYTEIN, SHIFTIN1, SHIFTIN2,
    input D1, D2, D3, D4, D5, D6, D7, D8,
    output reg OQ
);
    reg [4:0] sampled = 0, leaving = 0;
    initial OQ = 0;
    always @(posedge CLKDIV) begin
        leaving = sampled;
        sampled = RST ? 5'd0 : {D5, D4, D3, D2, D1};
        for (int i = 0; i < DATA_WIDTH; i++) begin
            OQ = leaving[i];
            if (i < DATA_WIDTH - 1) #1600;
        end
    end
endmodule

module IDELAYE2 #(
    parameter IDELAY_TYPE = "", DELAY_SRC = "", HIGH_PERFORMANCE_MODE = "", SIGNAL_PATTERN = "",
    parameter integer IDELAY_VALUE = 0, parameter real REFCLK_FREQUENCY = 0
) (
    input C, CE, CINVCTRL, DATAIN, IDATAIN, INC, LD, LDPIPEEN, REGRST,
    input [4:0] CNTVALUEIN,
    output reg DATAOUT
);
    reg [4:0] value = IDELAY_VALUE;
    initial DATAOUT = 0;
    always @(posedge C) if (LD) value <= CNTVALUEIN;
    // Three parts, each shorter than a bit: a simulator may keep only the latest change of an assignment
    reg first = 0, second = 0;
    wire [31:0] part = (600 + 75 * value) / 3;
    always @(IDATAIN) first <= #part IDATAIN;
    always @(first) second <= #part first;
    always @(second) DATAOUT <= #part second;
endmodule

module ISERDESE2 #(
    parameter DATA_RATE = "", INTERFACE_TYPE = "", IOBDELAY = "", SERDES_MODE = "",
    parameter integer DATA_WIDTH = 0, NUM_CE = 0
) (
    input D, DDLY, CLK, CLKB, CLKDIV, CLKDIVP, RST, CE1, CE2, BITSLIP, SHIFTIN1, SHIFTIN2, OCLK, OCLKB, OFB,
    input DYNCLKSEL, DYNCLKDIVSEL,
    output reg Q1, Q2, Q3, Q4, Q5, Q6, Q7, Q8, SHIFTOUT1, SHIFTOUT2
);
    reg [9:0] arriving = 0, arrived = 0;
    wire source = IOBDELAY == "IFD" ? DDLY : D;
    generate
        if (SERDES_MODE == "MASTER") begin
            always @(posedge CLKDIV) begin
                {SHIFTOUT2, SHIFTOUT1, Q8, Q7, Q6, Q5, Q4, Q3, Q2, Q1} <= RST ? 10'd0 : arrived;
                arrived <= arriving;
                #100;
                for (int i = 0; i < DATA_WIDTH; i++) begin
                    arriving = {arriving[8:0], source};
                    if (i < DATA_WIDTH - 1) #800;
                end
            end
        end else begin
            always @* {Q4, Q3} = {SHIFTIN2, SHIFTIN1};
        end
    endgenerate
endmodule

module PLLE2_BASE #(
    parameter real CLKIN1_PERIOD = 0, parameter integer CLKFBOUT_MULT = 0, CLKOUT0_DIVIDE = 0, CLKOUT1_DIVIDE = 0,
    parameter integer CLKOUT2_DIVIDE = 0
) (
    input CLKIN1, CLKFBIN, PWRDWN, RST,
    output CLKFBOUT, CLKOUT0, CLKOUT1, CLKOUT2, output reg LOCKED
);
    integer periods = 0;
    initial LOCKED = 0;
    assign {CLKFBOUT, CLKOUT0, CLKOUT1, CLKOUT2} = {4{CLKIN1}};
    always @(posedge CLKIN1) begin
        if (RST) periods = 0; else if (periods < 50) periods = periods + 1;
        LOCKED <= periods == 50;
    end
endmodule

module IDELAYCTRL(input REFCLK, RST, output reg RDY);
    initial RDY = 0;
    always @(RST) RDY <= #10000 !RST;
endmodule

module BUFG(input I, output O);
    assign O = I;
endmodule

module IBUFDS(input I, IB, output O);
    assign O = I;
endmodule

module OBUFDS(input I, output O, OB);
    assign O = I;
    assign OB = !I;
endmodule

module FDPE #(parameter INIT = 1) (input C, CE, PRE, D, output reg Q);
    initial Q = 1;
    always @(posedge C or posedge PRE) Q <= PRE ? 1'b1 : D;
endmodule
