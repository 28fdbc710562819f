package dataset

import (
	"context"
	"time"

	"bordereau/governance/dataset/generation"
)

// Tending says how a server looks after its datasets.
type Tending struct {
	Every time.Duration // between two rounds
	Quiet time.Duration // since the last generation, before an organisation's files are put in order
	Keep  int           // generations that stay
}

// Tend looks after all organisations until ctx ends: it masks anew what isn't masked as the policy in force says, takes logs into files,
// puts files in order and retires generations. Whatever fails is tried again in the next round; but for masks, nothing that anybody reads
// depends on it.
func (s *Store) Tend(ctx context.Context, t Tending) {
	s.followAll(ctx)
	tick := time.NewTicker(t.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		all, err := s.ledger.organisations(ctx)
		if err != nil {
			s.cfg.Logger.WarnContext(ctx, "organisations not listed", "error", err)
			continue
		}
		for _, o := range all {
			if err := s.tend(ctx, o, t); err != nil && ctx.Err() == nil {
				s.cfg.Logger.WarnContext(ctx, "dataset not tended", "org", o.Org, "error", err)
			}
		}
	}
}

func (s *Store) tend(ctx context.Context, o Organisation, t Tending) error {
	if err := s.followOne(ctx, o.Org); err != nil {
		return err
	}
	if s.cfg.Now().Sub(o.Published) >= t.Quiet {
		g, err := s.ledger.current(ctx, o.Org)
		if err != nil {
			return err
		}
		if mode := due(g); mode != "" {
			if _, err := s.build(ctx, o.Org, generation.Job{Mode: mode}); err != nil {
				return err
			}
			s.cfg.Logger.InfoContext(ctx, "dataset put in order", "org", o.Org, "how", mode)
		}
	}
	_, err := s.Retire(ctx, o.Org, t.Keep)
	return err
}

// due tells what is worth doing to a generation's files, "" for nothing.
func due(g generationRow) string {
	if g.manifest.Churn*churnPart > g.manifest.Relations["extracted_fields"] {
		return generation.Compact
	}
	for _, f := range g.manifest.Files {
		if f.Log != nil && f.Log.Bytes > foldLog {
			return generation.Fold
		}
	}
	return ""
}
