/** Steps of a program that a device executes as one batch (docs/batch.md). Registers are named `block/register`. */

import { type MessageInitShape } from "@bufbuild/protobuf";

import { type StepSchema } from "./protocol/kairos/hub/v1/hub_pb.js";

export type Step = MessageInitShape<typeof StepSchema>;

/** Reads a register. The value is a result; two for a register of more than 32 bits, the high word first. */
export function read(register: string): Step {
  return { step: { case: "read", value: { register } } };
}

/**
 * Writes a register; values of more than 53 bits must be a `bigint`. In a loop, the value increases by `more` each round,
 * if the register has at most 32 bits.
 */
export function write(register: string, value: number | bigint, more = 0): Step {
  return { step: { case: "write", value: { register, value: BigInt(value), step: more } } };
}

/** Sets the bits of a register selected by the mask. */
export function modify(register: string, value: number, mask: number): Step {
  return { step: { case: "modify", value: { register, value, mask } } };
}

/** Waits until the bits selected by the mask equal those of the value. The last value read is a result. */
export function poll(register: string, value: number, mask: number, timeoutUs: number): Step {
  return { step: { case: "poll", value: { register, value, mask, timeoutUs } } };
}

/** Waits. */
export function delay(us: number): Step {
  return { step: { case: "delay", value: { us } } };
}

/** Repeats steps. */
export function loop(rounds: number, ...steps: Step[]): Step {
  return { step: { case: "loop", value: { rounds, steps } } };
}
