// Ethernet: finds the PHY, resolves the gateway's address, pings it with checksum offload, counts interrupts.
#include "guest.h"
#define GEM 0xe000b000
volatile uint32_t resume;
void exception(uint32_t kind, uint32_t pc) { RESULT[14] = kind; RESULT[13] = pc; for (;;) wfi(); }
static volatile uint32_t interrupts;
void irq(void) {
    uint32_t id = REG(GICC + 0xc);
    if ((id & 0x3ff) == 54) { interrupts++; RESULT[12] |= REG(GEM + 0x24); REG(GEM + 0x24) = ~0u; REG(GEM + 0x20) = 15; }
    REG(GICC + 0x10) = id;
}
void main1(void) {}
static uint32_t rx[4][2] __attribute__((aligned(8))), tx[4][2] __attribute__((aligned(8)));
static uint8_t rx_buffer[4][1536] __attribute__((aligned(64))), frame[1536];
static int next_rx, next_tx;
static uint32_t mdio(uint32_t phy, uint32_t reg) {
    REG(GEM + 0x34) = 0x60020000 | phy << 23 | reg << 18;
    while (!(REG(GEM + 8) & 4)) ;
    return REG(GEM + 0x34) & 0xffff;
}
static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
static void copy(uint8_t *to, const uint8_t *from, int n) { while (n--) *to++ = *from++; }
static void transmit(int length) {
    tx[next_tx][0] = (uint32_t)frame;
    tx[next_tx][1] = length | 1 << 15 | (next_tx == 3 ? 1u << 30 : 0);
    tx[(next_tx + 1) & 3][1] |= 1u << 31;
    REG(GEM) = REG(GEM) | 0x200;
    next_tx = (next_tx + 1) & 3;
}
static uint8_t *receive(void) { // the next frame that is not an ARP request for our address
    irq_off();
    while (!(*(volatile uint32_t *)&rx[next_rx][0] & 1)) { wfi(); irq_on(); irq_off(); }
    irq_on();
    uint8_t *p = rx_buffer[next_rx];
    RESULT[7] = rx[next_rx][1];
    next_rx = (next_rx + 1) & 3;
    return p;
}
int main(void) {
    gic_on();
    REG(GICD + 0x104) = 1 << 22; *(volatile uint8_t *)(GICD + 0x800 + 54) = 1;
    irq_on();
    for (uint32_t p = 0; p < 32; p++) if (mdio(p, 2) != 0xffff) { RESULT[0] = p; RESULT[1] = mdio(p, 2) << 16 | mdio(p, 3); RESULT[2] = mdio(p, 1); }
    for (int i = 0; i < 4; i++) { rx[i][0] = (uint32_t)rx_buffer[i] | (i == 3 ? 2 : 0); tx[i][1] = 1u << 31 | (i == 3 ? 1u << 30 : 0); }
    REG(GEM + 4) = 1 << 24 | 1 << 10 | 1 << 8 | 1 << 17 | 2; // FCS removed
    REG(GEM + 0x10) = 24 << 16 | 1 << 11;
    REG(GEM + 0x18) = (uint32_t)rx; REG(GEM + 0x1c) = (uint32_t)tx;
    REG(GEM + 0x28) = 0x2 | 0x80;
    REG(GEM + 0x88) = 2; REG(GEM + 0x8c) = 1 << 8; // MAC address
    REG(GEM) = 0x1c;
    static const uint8_t arp[] = {0xff,0xff,0xff,0xff,0xff,0xff, 2,0,0,0,0,1, 8,6, 0,1, 8,0, 6,4, 0,1, 2,0,0,0,0,1, 10,0,2,15, 0,0,0,0,0,0, 10,0,2,2};
    copy(frame, arp, sizeof arp);
    uint32_t from = cycles();
    transmit(sizeof arp);
    uint8_t *p = receive();
    RESULT[3] = cycles() - from;
    RESULT[4] = p[12] << 24 | p[13] << 16 | p[20] << 8 | p[21]; // 0806, reply
    copy(frame, p + 6, 6); copy(frame + 6, mac, 6);
    frame[12] = 8; frame[13] = 0;
    static const uint8_t ip[] = {0x45,0,0,84, 0,1,0,0, 64,1,0,0, 10,0,2,15, 10,0,2,2};
    copy(frame + 14, ip, 20);
    static const uint8_t icmp[] = {8,0,0,0, 0x12,0x34, 0,1};
    copy(frame + 34, icmp, 8);
    for (int i = 0; i < 56; i++) frame[42 + i] = i;
    uint32_t sum = 0;
    for (int i = 34; i < 98; i += 2) sum += frame[i] << 8 | frame[i + 1];
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    frame[36] = ~sum >> 8; frame[37] = ~sum;
    transmit(98);
    p = receive();
    RESULT[5] = p[34] << 16 | p[38] << 8 | p[39]; // echo reply, identifier
    int same = 1;
    for (int i = 0; i < 56; i++) same &= p[42 + i] == i;
    RESULT[6] = same;
    RESULT[8] = interrupts;
    RESULT[15] = 0x600d;
    return 0;
}
