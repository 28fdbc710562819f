package main

import (
	"context"
	"log/slog"
	"os"

	"bordereau/governance/dataset"
	"bordereau/governance/duck"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
)

// runDuckWorker makes this process a worker that runs statements for the process that started it.
func runDuckWorker(context.Context, []string, stdio) error {
	if status := duck.WorkerMain(); status != 0 {
		return workerStatus(status)
	}
	return nil
}

// workerStatus ends a worker with a status and no words: nobody reads them.
type workerStatus int

func (workerStatus) Error() string { return "" }

// ExitCode returns the status.
func (s workerStatus) ExitCode() int { return int(s) }

// gateOptions are what a command chooses of a gate.
type gateOptions struct {
	data, policy string
	log          *slog.Logger
}

// openGate builds the gate of one machine's data folder. done closes everything.
func openGate(ctx context.Context, o gateOptions) (g *gate.Gate, done func(), err error) {
	if _, err := os.Stat(o.data); err != nil {
		return nil, nil, (&fault.Error{
			Code: fault.Unavailable, Component: "query", Message: "there is no data folder " + o.data,
			Hint: "Import data first, or name the folder with --data or BORDEREAU_DATA.",
		}).Because(err)
	}
	c := defaults()
	c.Data, c.Governance.Policy = o.data, o.policy
	var open closers
	done = func() { open.close(context.WithoutCancel(ctx), o.log) }
	plane, err := openDataPlane(ctx, c, o.log, &open)
	if err == nil {
		err = inForce(ctx, plane)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return plane.gate, done, nil
}

// inForce refuses a policy whose masks are not those of the data: only a server puts others in force.
func inForce(ctx context.Context, p *dataPlane) error {
	same, err := p.store.InForce(ctx, p.policy.Profiles[policy.Standard].Masks())
	if err != nil || same {
		return err
	}
	return &fault.Error{
		Code: fault.Invalid, Component: "policy", Rule: "masks", Message: "the data is masked as another policy says",
		Hint: "Name the policy file that the server has, or start 'bordereau serve' with this one.",
	}
}

// pinner gives the dataset store's generations to the gate.
type pinner struct{ store *dataset.Store }

var _ gate.Pinner = pinner{}

// Pin pins a generation of org, "" for the newest.
func (p pinner) Pin(ctx context.Context, org, profile, generation string) (gate.Pinned, func(), error) {
	pin := p.store.Pin
	if generation != "" {
		pin = func(ctx context.Context, org, profile string) (dataset.Pinned, func(), error) {
			return p.store.PinGeneration(ctx, org, profile, generation)
		}
	}
	pinned, release, err := pin(ctx, org, profile)
	return gate.Pinned{Generation: pinned.Generation, Path: pinned.Path, SHA256: pinned.SHA256}, release, err
}
