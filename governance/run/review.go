package run

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrReview is returned for a review that can't be kept; the message says which finding and why.
var ErrReview = errors.New("review")

// maxComment is the most letters that a comment holds.
const maxComment = 4000

// Dispositions are what a reviewer may say of a finding; "" takes back what was said.
func Dispositions() []string { return []string{"accepted", "waived", "to_broker", "error"} }

// Opinion is what a reviewer says of one finding.
type Opinion struct {
	Finding     string `json:"finding"`
	Disposition string `json:"disposition"`
	Comment     string `json:"comment"`
}

// Review is a stored opinion. Seq counts the run's reviews.
type Review struct {
	Opinion
	Seq    int64     `json:"seq"`
	Person string    `json:"person"`
	Via    string    `json:"via"`              // "page", "workbook"
	Source string    `json:"source,omitempty"` // SHA-256 of the workbook
	Base   int64     `json:"base"`             // the revision that the person saw
	At     time.Time `json:"at"`
}

// Reviewing is what a person asks to keep.
type Reviewing struct {
	Org, Run, Person, Via, Source string
	At                            time.Time
	Base                          int64 // the revision of the run that the person saw: the newest seq in the copy, 0 for one without reviews
	Overwrite                     bool  // also where another review came in between
	Opinions                      []Opinion
}

// Conflict is an opinion that was not kept, since somebody reviewed the finding after the copy was made.
type Conflict struct {
	Yours  Opinion `json:"yours"`
	Theirs Review  `json:"theirs"`
}

// Reviewed is what came of it.
type Reviewed struct {
	Revision  int64      `json:"revision"` // of the run now
	Stored    []Review   `json:"stored"`
	Unchanged int        `json:"unchanged"` // opinions that say what was known, or what the copy said
	Conflicts []Conflict `json:"conflicts"`
}

// Review adds a person's opinions to a run. What the person left as the copy had it changes nothing. What somebody else said
// since the copy was made stays and comes back as a conflict, unless Overwrite says otherwise or both say the same.
func (s *Store) Review(ctx context.Context, r Reviewing) (Reviewed, error) {
	if r.Org == "" || r.Run == "" || r.Person == "" || r.Via == "" || r.At.IsZero() {
		return Reviewed{}, errors.New("run: a review needs organisation, run, person, way and time")
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Reviewed{}, fmt.Errorf("storing review: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, lockRun, r.Org, r.Run); err != nil {
		return Reviewed{}, fmt.Errorf("storing review: %w", err)
	}
	var findings int
	switch err := tx.QueryRowContext(ctx, selectFindings, r.Org, r.Run).Scan(&findings); {
	case errors.Is(err, sql.ErrNoRows):
		return Reviewed{}, ErrNotFound
	case err != nil:
		return Reviewed{}, fmt.Errorf("storing review: %w", err)
	}
	if err := check(r.Opinions, findings); err != nil {
		return Reviewed{}, err
	}
	all, err := reviews(ctx, tx, r.Org, r.Run, math.MaxInt64)
	if err != nil {
		return Reviewed{}, err
	}
	out := Reviewed{Stored: []Review{}, Conflicts: []Conflict{}}
	if len(all) > 0 {
		out.Revision = all[len(all)-1].Seq
	}
	if r.Base < 0 || r.Base > out.Revision {
		return Reviewed{}, fmt.Errorf("%w: revision %d of the run is not known; its newest is %d", ErrReview, r.Base, out.Revision)
	}
	now := Latest(all)
	seen := Latest(slices.DeleteFunc(slices.Clone(all), func(v Review) bool { return v.Seq > r.Base }))
	for _, o := range r.Opinions {
		current := now[o.Finding]
		switch {
		case said(o, current), said(o, seen[o.Finding]) && !r.Overwrite:
			out.Unchanged++
			continue
		case current.Seq > r.Base && !r.Overwrite:
			out.Conflicts = append(out.Conflicts, Conflict{Yours: o, Theirs: current})
			continue
		}
		out.Revision++
		v := Review{Opinion: o, Seq: out.Revision, Person: r.Person, Via: r.Via, Source: r.Source, Base: r.Base, At: r.At.UTC().Truncate(time.Microsecond)}
		if _, err := tx.ExecContext(ctx, insertReview, r.Run, v.Seq, v.Finding, v.Disposition, v.Comment, v.Person, v.Via, v.Source, v.Base, v.At.UnixMicro()); err != nil {
			return Reviewed{}, fmt.Errorf("storing review of %s: %w", v.Finding, err)
		}
		out.Stored = append(out.Stored, v)
	}
	if err := tx.Commit(); err != nil {
		return Reviewed{}, fmt.Errorf("storing review: %w", err)
	}
	return out, nil
}

// Reviews returns the reviews of a run of org in their order, up to a revision; 0 for all.
func (s *Store) Reviews(ctx context.Context, org, id string, revision int64) ([]Review, error) {
	if revision <= 0 {
		revision = math.MaxInt64
	}
	return reviews(ctx, s.db, org, id, revision)
}

// Latest is the review in force of each finding.
func Latest(all []Review) map[string]Review {
	latest := make(map[string]Review, len(all))
	for _, v := range all {
		latest[v.Finding] = v
	}
	return latest
}

func said(o Opinion, v Review) bool { return o.Disposition == v.Disposition && o.Comment == v.Comment }

// check refuses opinions that no finding of the run can have. A run numbers its findings from F-0001.
func check(opinions []Opinion, findings int) error {
	known := map[string]bool{}
	for _, o := range opinions {
		n, err := strconv.Atoi(strings.TrimPrefix(o.Finding, "F-"))
		switch {
		case err != nil || n < 1 || n > findings || o.Finding != fmt.Sprintf("F-%04d", n):
			return fmt.Errorf("%w: finding %q is not of this run, which has %d", ErrReview, o.Finding, findings)
		case known[o.Finding]:
			return fmt.Errorf("%w: finding %s is there twice", ErrReview, o.Finding)
		case o.Disposition != "" && !slices.Contains(Dispositions(), o.Disposition):
			return fmt.Errorf("%w: finding %s: disposition %q: choose one of %s", ErrReview, o.Finding, o.Disposition, strings.Join(Dispositions(), ", "))
		case !utf8.ValidString(o.Comment) || strings.ContainsRune(o.Comment, 0):
			return fmt.Errorf("%w: finding %s: the comment is no text", ErrReview, o.Finding)
		case utf8.RuneCountInString(o.Comment) > maxComment:
			return fmt.Errorf("%w: finding %s: a comment has at most %d letters", ErrReview, o.Finding, maxComment)
		}
		known[o.Finding] = true
	}
	return nil
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func reviews(ctx context.Context, db queryer, org, id string, revision int64) ([]Review, error) {
	rows, err := db.QueryContext(ctx, selectReviews, org, id, revision)
	if err != nil {
		return nil, fmt.Errorf("reading reviews: %w", err)
	}
	defer func() { _ = rows.Close() }()
	all := []Review{}
	for rows.Next() {
		var v Review
		var at int64
		if err := rows.Scan(&v.Seq, &v.Finding, &v.Disposition, &v.Comment, &v.Person, &v.Via, &v.Source, &v.Base, &at); err != nil {
			return nil, fmt.Errorf("reading reviews: %w", err)
		}
		v.At = time.UnixMicro(at).UTC()
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading reviews: %w", err)
	}
	return all, nil
}
