package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"bordereau/governance/dataset/generation"
	"bordereau/governance/fault"
)

// The masks in force are a row of the governance database, so that all who build follow the same ones: the server puts its policy's there
// when it starts, and the last that started counts. A file that is masked otherwise isn't served in the standard profile; it is masked anew,
// as a generation of its own.

// Enforce puts masks in force, by field as a policy names them. A field that is left out is masked as it is built in.
func (s *Store) Enforce(ctx context.Context, masks map[string]string) error {
	text, err := canonical(masks)
	if err != nil {
		return err
	}
	changed, err := s.ledger.enforce(ctx, text, s.cfg.Now())
	if err != nil {
		return s.unavailable("the policy's masks can't be put in force", err)
	}
	if changed {
		s.cfg.Logger.InfoContext(ctx, "masks of the policy put in force", "masks", text)
	}
	return nil
}

// InForce tells whether masks are those in force.
func (s *Store) InForce(ctx context.Context, masks map[string]string) (bool, error) {
	text, err := canonical(masks)
	if err != nil {
		return false, err
	}
	now, err := s.ledger.masks(ctx)
	if err != nil {
		return false, s.unavailable("the masks in force can't be looked up", err)
	}
	return orBuiltIn(now) == orBuiltIn(text), nil
}

// follow masks an organisation's newest generation anew if the masks in force are others. The organisation is locked.
func (s *Store) follow(ctx context.Context, org, dir string) error {
	g, err := s.ledger.current(ctx, org)
	if noRows(err) {
		return nil
	}
	if err != nil {
		return s.unavailable("the newest generation can't be looked up", err)
	}
	if g.follows() {
		return nil
	}
	out, err := s.buildOnce(ctx, org, dir, generation.Job{Mode: generation.Mask})
	if err == nil {
		s.cfg.Logger.InfoContext(ctx, "masked as the policy says", "org", org, "generation", out.row.id)
	}
	return err
}

// followAll masks anew whatever isn't masked as the policy in force says.
func (s *Store) followAll(ctx context.Context) {
	all, err := s.ledger.organisations(ctx)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "organisations not listed", "error", err)
		return
	}
	for _, o := range all {
		if err := s.followOne(ctx, o.Org); err != nil && ctx.Err() == nil {
			s.cfg.Logger.WarnContext(ctx, "not masked as the policy says, and so not served", "org", o.Org, "error", err)
		}
	}
}

func (s *Store) followOne(ctx context.Context, org string) error {
	g, err := s.ledger.current(ctx, org)
	if err != nil || g.follows() {
		return err
	}
	_, err = s.build(ctx, org, generation.Job{Mode: generation.Mask})
	return err
}

// follows tells whether a generation is masked as the policy in force says.
func (g generationRow) follows() bool { return orBuiltIn(g.manifest.Masks) == orBuiltIn(g.inForce) }

// otherwiseMasked refuses a generation that doesn't follow the policy in force.
func otherwiseMasked(newest bool) error {
	if !newest {
		return &fault.Error{
			Code: fault.Denied, Component: "dataset", Rule: "masks", Message: "that generation is masked as an earlier policy said",
			Hint: "ask the newest generation",
		}
	}
	return &fault.Error{
		Code: fault.Unavailable, Component: "dataset", Rule: "masks", Message: "the policy's masks have changed, and the data is not masked so yet", Retryable: true,
		Hint: "ask again in a moment; the server is masking it anew",
	}
}

// canonical is how masks are recorded.
func canonical(masks map[string]string) (string, error) {
	if _, err := generation.ReadMasks(masks); err != nil {
		return "", fmt.Errorf("dataset: %w", err)
	}
	all := generation.BuiltIn()
	maps.Copy(all, masks)
	text, err := json.Marshal(all)
	return string(text), err
}

// orBuiltIn is what masks are where none are recorded: nobody has put any in force, or the generation is older than the record.
func orBuiltIn(masks string) string {
	if masks != "" {
		return masks
	}
	text, err := canonical(nil)
	if err != nil {
		return ""
	}
	return text
}

func parseMasks(text string) (masks map[string]string, err error) {
	if text == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(text), &masks)
	return masks, err
}

// enforce records masks and tells whether they were others before.
func (l ledger) enforce(ctx context.Context, masks string, now time.Time) (bool, error) {
	done, err := l.db.ExecContext(ctx, "INSERT INTO dataset_masks (id, masks, set_at) VALUES (1, $1, $2) ON CONFLICT (id) DO UPDATE SET masks = excluded.masks, set_at = excluded.set_at "+
		"WHERE dataset_masks.masks <> excluded.masks", masks, now.UnixMicro())
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// masks returns those in force, "" when nobody has put any in force.
func (l ledger) masks(ctx context.Context) (masks string, err error) {
	err = l.db.QueryRowContext(ctx, "SELECT masks FROM dataset_masks WHERE id = 1").Scan(&masks)
	if noRows(err) {
		return "", nil
	}
	return masks, err
}
