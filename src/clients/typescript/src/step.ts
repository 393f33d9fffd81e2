/** Steps of a program that a device executes in one go (docs/batch.md). Registers are named `block/register`. */

import { type MessageInitShape } from "@bufbuild/protobuf";

import { type StepSchema } from "./protocol/kairos/hub/v1/hub_pb.js";

export type Step = MessageInitShape<typeof StepSchema>;

/** The value of a register is a result; of one of more than 32 bits two, the high word first. */
export function read(register: string): Step {
  return { step: { case: "read", value: { register } } };
}

/** Sets a register, one of more than 53 bits by a `bigint`; in a loop to `more` more each round, if it has at most 32. */
export function write(register: string, value: number | bigint, more = 0): Step {
  return { step: { case: "write", value: { register, value: BigInt(value), step: more } } };
}

/** Sets the bits of a register that the mask has. */
export function modify(register: string, value: number, mask: number): Step {
  return { step: { case: "modify", value: { register, value, mask } } };
}

/** Waits until the bits of the mask are as in the value. What was read last is a result. */
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
