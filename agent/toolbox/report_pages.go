package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"bordereau/reports"
)

// maxDocument bounds a document whose pages are shown in a report.
const maxDocument = 64 << 20

// resourcePart is the size of every part of a resource but the last.
const resourcePart = 1 << 20

// mayShow tells whether a report may show pages of documents: reports.Shown, or the sentence why it may not. Pages are not masked,
// so that governance gives them only to roles that see everything.
func (s *session) mayShow(ctx context.Context, r *reports.Report) string {
	for _, f := range r.Findings {
		for _, e := range f.Evidence {
			if e.Kind != "document" || e.DocumentID == "" {
				continue
			}
			_, err := s.resource(ctx, "bordereau://document/"+e.DocumentID+"/1")
			var refused *fault
			if errors.As(err, &refused) && refused.Code == "denied" {
				return refused.Message + "."
			}
			return reports.Shown // what else is wrong with one document is said in its place
		}
	}
	return reports.Shown
}

// opener reads the documents of a report as the run knew them.
func (s *session) opener(r *reports.Report) func(ctx context.Context, id string) ([]byte, error) {
	want := map[string]string{}
	for _, sub := range r.Submissions {
		for _, d := range sub.Documents {
			want[d.ID] = d.SHA256
		}
	}
	return func(ctx context.Context, id string) ([]byte, error) {
		raw, err := s.whole(ctx, "document", id, maxDocument, func(b []byte) bool { return len(b)%resourcePart != 0 })
		var f *fault
		switch {
		case errors.As(err, &f) && f.Code == "too_large":
			return nil, errors.New("The document is too large to show.") //nolint:revive,staticcheck // a sentence for the report's reader
		case err != nil:
			return nil, errors.New("The document could not be read.") //nolint:revive,staticcheck // a sentence for the report's reader
		}
		sum := sha256.Sum256(raw)
		if known := want[id]; known != "" && known != hex.EncodeToString(sum[:]) {
			return nil, errors.New("The document is not the one that the run read.") //nolint:revive,staticcheck // a sentence for the report's reader
		}
		return raw, nil
	}
}
