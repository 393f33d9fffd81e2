package hub

import (
	"time"

	"kairos/hub/hubv1"
)

// Steps of a program that a device executes as one batch (docs/batch.md). Registers are named
// block/register.

// Read reads a register. The value is a result; two for a register of more than 32 bits, the high
// word first.
func Read(register string) *hubv1.Step {
	return &hubv1.Step{Step: &hubv1.Step_Read_{Read: &hubv1.Step_Read{Register: register}}}
}

// Write writes a register; in a loop, the value increases by `step` each round, if the register has
// at most 32 bits.
func Write(register string, value uint64, step uint32) *hubv1.Step {
	write := &hubv1.Step_Write{Register: register, Value: value, Step: step}
	return &hubv1.Step{Step: &hubv1.Step_Write_{Write: write}}
}

// Modify sets the bits of a register selected by the mask.
func Modify(register string, value, mask uint32) *hubv1.Step {
	modify := &hubv1.Step_Modify{Register: register, Value: value, Mask: mask}
	return &hubv1.Step{Step: &hubv1.Step_Modify_{Modify: modify}}
}

// Poll waits until the bits selected by the mask equal those of the value. The last value read is a
// result.
func Poll(register string, value, mask uint32, timeout time.Duration) *hubv1.Step {
	poll := &hubv1.Step_Poll{Register: register, Value: value, Mask: mask, TimeoutUs: microseconds(timeout)}
	return &hubv1.Step{Step: &hubv1.Step_Poll_{Poll: poll}}
}

// Delay waits.
func Delay(length time.Duration) *hubv1.Step {
	return &hubv1.Step{Step: &hubv1.Step_Delay_{Delay: &hubv1.Step_Delay{Us: microseconds(length)}}}
}

// Loop repeats steps.
func Loop(rounds uint32, steps ...*hubv1.Step) *hubv1.Step {
	return &hubv1.Step{Step: &hubv1.Step_Loop_{Loop: &hubv1.Step_Loop{Rounds: rounds, Steps: steps}}}
}

func microseconds(length time.Duration) uint32 {
	return uint32(length.Round(time.Microsecond) / time.Microsecond)
}
