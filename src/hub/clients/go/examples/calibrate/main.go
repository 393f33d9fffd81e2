// Calibrate searches for the setting at which a phase-locked loop locks: 1,000 steps executed next
// to the hardware, in one round trip:
//
//	calibrate localhost:1390 zc706
//
// The registers are `scratch`, which every gateware provides for experiments: they keep what is
// written, as if the loop locked with every setting. Replace them by those of your own block.
//
// The token is taken from KAIROS_HUB_TOKEN, the certificate of a hub with TLS from
// KAIROS_HUB_CERTIFICATE.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"kairos/hub"
	"kairos/hub/hubv1"
)

const (
	settings  = 250
	control   = "scratch/word"
	status    = control
	frequency = "scratch/wide"
	// start starts the loop; the lower bits contain the setting.
	start uint32 = 1 << 31
	// locked is the status of a locked loop; the lower bits contain the setting.
	locked = start
	// tuning is 10 MHz from 125 MHz, in units of 2^-64.
	tuning uint64 = 0x147a_e147_ae14_7ae1
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: calibrate HOST:PORT DEVICE")
		os.Exit(2)
	}
	if err := calibrate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func calibrate(address, device string) error {
	options := hub.Options{Token: os.Getenv("KAIROS_HUB_TOKEN"), Certificate: os.Getenv("KAIROS_HUB_CERTIFICATE")}
	lab, err := hub.Connect(address, options)
	if err != nil {
		return err
	}
	defer lab.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	attempt := []*hubv1.Step{
		hub.Write(control, 0, 1),
		hub.Modify(control, start, start),
		hub.Poll(control, start, start, time.Millisecond),
		hub.Read(status),
	}
	started := time.Now()
	results, err := run(ctx, lab, device, hub.Loop(settings, attempt...))
	if err != nil {
		return err
	}
	took := time.Since(started)
	count, setting := middle(results)

	results, err = run(ctx, lab, device,
		hub.Write(control, uint64(start|setting), 0),
		hub.Write(frequency, tuning, 0),
		hub.Read(status),
		hub.Read(frequency))
	if err != nil {
		return err
	}
	if !slices.Equal(results, []uint32{locked | setting, uint32(tuning >> 32), uint32(tuning & 0xffff_ffff)}) {
		return fmt.Errorf("it does not lock with setting %d", setting)
	}
	fmt.Printf("%d of %d settings lock; %d, in their middle, is set\n", count, settings, setting)
	steps := settings * len(attempt)
	fmt.Printf("%d steps as one batch: %.1f us each\n", steps, float64(took.Microseconds())/float64(steps))
	return nil
}

// run executes a program and returns its results.
func run(ctx context.Context, lab *hub.Lab, device string, steps ...*hubv1.Step) ([]uint32, error) {
	answer, err := lab.Registers.Run(ctx, &hubv1.RunRequest{Device: device, Steps: steps})
	if err != nil {
		return nil, err
	}
	if !answer.Done {
		return nil, errors.New(answer.Error)
	}
	return answer.Results, nil
}

// middle returns the number of settings that lock, and the middle of the longest run of them. Each
// status is preceded by the value read by the poll.
func middle(results []uint32) (count int, best uint32) {
	var begin, longest uint32
	for setting := uint32(0); int(setting) < len(results)/2; setting++ {
		if results[2*setting+1] != locked|setting {
			begin = setting + 1
			continue
		}
		count++
		if length := setting + 1 - begin; length > longest {
			longest, best = length, begin+length/2
		}
	}
	return count, best
}
