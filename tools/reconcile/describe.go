package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"bordereau/tools/guideline"
)

func describe(g *guideline.Guideline) RunGuideline {
	out := RunGuideline{ID: g.ID, Carrier: g.Carrier, Name: g.Name, Version: g.Version, Effective: g.Effective.Format(time.DateOnly), SHA256: g.SHA256}
	for _, r := range g.Rules {
		rule := RunRule{ID: r.ID, Text: r.Text, Severity: r.Severity, Action: r.Action, Scope: string(r.Scope), Basis: r.Basis}
		for _, name := range r.Uses() {
			if rule.Parameters == nil {
				rule.Parameters = map[string]string{}
			}
			for _, p := range g.Parameters {
				if p.Name == name {
					rule.Parameters[name] = p.String()
				}
			}
		}
		out.Rules = append(out.Rules, rule)
	}
	return out
}

// union stands for several guidelines where a reader knows only one: every rule once, as the first of them has it.
func union(all []RunGuideline) RunGuideline {
	out := RunGuideline{ID: "by-carrier", Carrier: "each submission's", Name: "Each submission's carrier's guideline"}
	h := sha256.New()
	seen := map[string]bool{}
	var names []string
	for _, g := range all {
		h.Write([]byte(g.SHA256))
		names = append(names, g.ID+"@"+g.Version)
		out.Effective = max(out.Effective, g.Effective)
		for _, r := range g.Rules {
			if !seen[r.ID] {
				seen[r.ID] = true
				out.Rules = append(out.Rules, r)
			}
		}
	}
	out.Version, out.SHA256 = strings.Join(names, ", "), hex.EncodeToString(h.Sum(nil))
	return out
}
