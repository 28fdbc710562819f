package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/gate"
)

// full is one statement with all that is on record.
type full struct {
	listed
	PersonName string   `json:"person_name,omitempty"`
	SQLAsked   string   `json:"sql_asked"`
	SQLRun     string   `json:"sql_run,omitempty"`
	Redacted   bool     `json:"redacted"` // values were left out, so that it can't be run again as it stands
	Message    string   `json:"message,omitempty"`
	Hint       string   `json:"hint,omitempty"`
	Position   int64    `json:"position,omitempty"` // 1-based byte offset into sql_asked
	Columns    []string `json:"columns"`
	Profile    string   `json:"profile,omitempty"`
	FileSHA256 string   `json:"file_sha256,omitempty"` // of the generation's file
	Epoch      int64    `json:"epoch,omitempty"`
	Sandbox    string   `json:"sandbox,omitempty"`
	LastSeq    int64    `json:"last_seq"` // of the newest event, which the hash is of
	Hash       string   `json:"hash"`
	PrevHash   string   `json:"prev_hash"`
	Uses       []use    `json:"uses"`
}

// use is a run that read its data by this statement.
type use struct {
	RunID        string    `json:"run_id"`
	Created      time.Time `json:"created_at"`
	Guideline    string    `json:"guideline"`
	Conversation string    `json:"conversation"`
	Purpose      string    `json:"purpose,omitempty"`
	Findings     []cited   `json:"findings"` // the first that cite it
	Count        int       `json:"finding_count"`
}

// cited is a finding with this statement in its evidence.
type cited struct {
	ID           string `json:"id"`
	SubmissionID string `json:"submission_id"`
	RuleID       string `json:"rule_id"`
	Severity     string `json:"severity"`
	Message      string `json:"message"`
}

// shownFindings is how many findings of a run are listed.
const shownFindings = 50

// getStatement answers GET /api/console/statements/{id}.
func (c *Console) getStatement(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	s, err := c.statement(r.Context(), p, r.PathValue("id"))
	if err != nil {
		return err
	}
	names, err := c.names(r.Context(), p.Org, []string{s.Subject})
	if err != nil {
		return err
	}
	out := full{
		listed: listedOf(s), PersonName: names[s.Subject], SQLAsked: s.SQLAsked, SQLRun: s.SQLRun, Redacted: redacted(s), Message: s.Message, Hint: s.Hint,
		Position: s.Position, Columns: s.Columns, Profile: s.Profile, FileSHA256: s.SHA256, Epoch: s.Epoch, Sandbox: s.Sandbox, LastSeq: s.Seq,
		Hash: s.Hash, PrevHash: s.PrevHash,
	}
	if out.Columns == nil {
		out.Columns = []string{}
	}
	if out.Uses, err = c.uses(r.Context(), s); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// statement is one that the principal may see.
func (c *Console) statement(ctx context.Context, p gate.Principal, id string) (audit.Statement, error) {
	s, err := c.c.Record.Statement(ctx, p.Org, id)
	if err != nil {
		return s, err
	}
	if own(p) && s.Subject != p.Subject {
		return s, notFound("statement")
	}
	return s, nil
}

func redacted(s audit.Statement) bool {
	return s.Event == audit.Asked || strings.Contains(s.SQLAsked, "[redacted]")
}

// uses finds the runs that cite a statement. A run reads its data within its own turn, so only the turn's runs are looked at.
func (c *Console) uses(ctx context.Context, s audit.Statement) ([]use, error) {
	out := []use{}
	if s.Turn == "" {
		return out, nil
	}
	runs, err := c.c.Runs.OfTurn(ctx, s.Org, s.Turn)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		raw, err := c.c.Runs.Body(ctx, s.Org, r.ID)
		if err != nil {
			return nil, err
		}
		u := use{RunID: r.ID, Created: r.Created, Guideline: r.Guideline, Conversation: r.Conversation, Findings: []cited{}}
		used, err := u.read(raw, s.AuditID)
		if err != nil {
			return nil, fmt.Errorf("reading run %s: %w", r.ID, err)
		}
		if used {
			out = append(out, u)
		}
	}
	return out, nil
}

// read fills in what a run's body says of a statement, and tells whether it says anything.
func (u *use) read(raw []byte, auditID string) (bool, error) {
	var body struct {
		Findings []struct {
			cited
			Evidence []struct {
				AuditID string `json:"audit_id"`
			} `json:"evidence"`
		} `json:"findings"`
		Queries []struct {
			AuditID string `json:"audit_id"`
			Purpose string `json:"purpose"`
		} `json:"queries"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return false, err
	}
	used := false
	for _, q := range body.Queries {
		if q.AuditID == auditID {
			u.Purpose, used = q.Purpose, true
		}
	}
	for _, f := range body.Findings {
		if !slices.ContainsFunc(f.Evidence, func(e struct {
			AuditID string `json:"audit_id"`
		},
		) bool {
			return e.AuditID == auditID
		}) {
			continue
		}
		used = true
		if u.Count++; u.Count <= shownFindings {
			u.Findings = append(u.Findings, f.cited)
		}
	}
	return used, nil
}
