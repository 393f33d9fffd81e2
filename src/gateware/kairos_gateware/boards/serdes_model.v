// Behaviour of the cells that boards/io.py uses, for its test (7-series, 8 bits, double data rate; UG471 chapter 3).
// OSERDESE2: the word sampled at an edge of CLKDIV leaves from the next edge on (four cycles of CLK later), D1 first.
// ISERDESE2, networking mode: a word is at Q two cycles of CLKDIV after the cycle in which it arrived, Q8 came first.
`timescale 1ns / 1ps

module OSERDESE2 #(
    parameter DATA_RATE_OQ = "", DATA_RATE_TQ = "", SERDES_MODE = "",
    parameter integer DATA_WIDTH = 0, TRISTATE_WIDTH = 0
) (
    input CLK, CLKDIV, RST, OCE, TCE, T1, T2, T3, T4, TBYTEIN, SHIFTIN1, SHIFTIN2,
    input D1, D2, D3, D4, D5, D6, D7, D8,
    output reg OQ, output TQ
);
    reg [7:0] sampled = 0, leaving = 0;
    assign TQ = T1;
    always @(posedge CLKDIV) begin
        leaving = sampled;
        sampled = {D8, D7, D6, D5, D4, D3, D2, D1};
        for (int i = 0; i < 8; i++) begin
            OQ = leaving[i];
            if (i < 7) #1;
        end
    end
endmodule

module ISERDESE2 #(
    parameter DATA_RATE = "", INTERFACE_TYPE = "", IOBDELAY = "", SERDES_MODE = "",
    parameter integer DATA_WIDTH = 0, NUM_CE = 0
) (
    input D, DDLY, CLK, CLKB, CLKDIV, CLKDIVP, RST, CE1, CE2, BITSLIP, SHIFTIN1, SHIFTIN2, OCLK, OCLKB, OFB,
    input DYNCLKSEL, DYNCLKDIVSEL,
    output reg Q1, Q2, Q3, Q4, Q5, Q6, Q7, Q8
);
    reg [7:0] arriving = 0, arrived = 0;
    always @(posedge CLKDIV) begin
        {Q8, Q7, Q6, Q5, Q4, Q3, Q2, Q1} <= arrived;
        arrived <= arriving;
        #0.5;
        for (int i = 0; i < 8; i++) begin
            arriving = {arriving[6:0], D};
            if (i < 7) #1;
        end
    end
endmodule

module OBUFT(input I, T, output O);
    assign O = I & ~T;
endmodule

module IBUF(input I, output O);
    assign O = I;
endmodule
