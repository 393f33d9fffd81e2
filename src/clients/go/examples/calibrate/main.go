// Calibrate makes 1,000 register accesses beside the hardware, in one round trip:
//
//	calibrate localhost:1390 zc706
//
// A token is taken from KAIROS_HUB_TOKEN, the certificate of a hub with TLS from KAIROS_HUB_CERTIFICATE.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"kairos/hub"
	"kairos/hub/hubv1"
)

const rounds = 250

// looks are what each round looks at: all are 0 where nothing is wrong and nothing under way.
var looks = []string{"rtio/async_error", "initiator/lost", "initiator/busy", "dma/busy"}

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

	steps := make([]*hubv1.Step, len(looks))
	for number, register := range looks {
		steps[number] = hub.Read(register)
	}
	program := &hubv1.RunRequest{Device: device, Steps: []*hubv1.Step{hub.Loop(rounds, steps...)}}
	started := time.Now()
	answer, err := lab.Registers.Run(ctx, program)
	if err != nil {
		return err
	}
	if !answer.Done {
		return fmt.Errorf("%s", answer.Error)
	}
	took := time.Since(started)

	atRest := 0
	for values := answer.Results; len(values) >= len(looks); values = values[len(looks):] {
		if values[0]|values[1]|values[2]|values[3] == 0 {
			atRest++
		}
	}
	fmt.Printf("%d of %d rounds found everything at rest\n", atRest, rounds)
	accesses := len(answer.Results)
	fmt.Printf("%d accesses as one batch: %.1f us each\n", accesses, float64(took.Microseconds())/float64(accesses))
	return nil
}
