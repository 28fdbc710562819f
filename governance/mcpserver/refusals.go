package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"bordereau/governance/audit"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

// UnverifiedOrg is the chain of refusals whose token proves nothing: nobody may write into an organisation's own chain by
// claiming to be of it.
const UnverifiedOrg = "-unverified-"

// AuditRefusals records refusals in the audit log. All fields are required.
type AuditRefusals struct {
	Log   gate.Recorder
	NewID func() string // of audit records
}

var _ Refusals = AuditRefusals{}

// Refused implements Refusals.
func (a AuditRefusals) Refused(ctx context.Context, r Refusal) error {
	if a.Log == nil || a.NewID == nil {
		return errors.New("mcpserver: AuditRefusals needs Log and NewID")
	}
	e := audit.Entry{
		Org: UnverifiedOrg, AuditID: a.NewID(), At: r.At, Subject: "unverified", Role: "none", Via: "token", Sandbox: r.Sandbox,
		SQLAsked: fmt.Sprintf("-- a call from %s with token %s, which claims organisation %q, turn %q, id %q", r.Remote, r.Token, r.Org, r.Turn, r.TokenID),
	}
	if r.Verified {
		e.Org, e.Subject, e.Role, e.Turn = r.Org, "turn "+r.Turn, "turn", r.Turn
		e.SQLAsked = fmt.Sprintf("-- a call of the tool %q with token id %q", r.Tool, r.TokenID)
	}
	if err := a.Log.Asked(ctx, e); err != nil {
		return err
	}
	e.Decision, e.Rule, e.Outcome = audit.Refused, "token_"+r.Kind, string(fault.Auth)
	return a.Log.Outcome(ctx, e)
}
