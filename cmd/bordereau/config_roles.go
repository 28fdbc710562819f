package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"bordereau/agent/turn"
)

// The roles of 'serve'.
const (
	roleAll        = "all"
	roleAgent      = "agent"      // people, turns, sandboxes
	roleGovernance = "governance" // data
)

// agentConfig is how governance on another machine finds the agent.
type agentConfig struct {
	Listen string `yaml:"listen"` // role agent: for governance and for metrics
	URL    string `yaml:"url"`    // role governance: where the agent listens, such as http://agent:8702
}

// budgetsConfig bounds what people and organisations spend in a window of time; 0 is no bound.
type budgetsConfig struct {
	Window           time.Duration `yaml:"window"`
	PersonTokens     int64         `yaml:"person_tokens"`
	PersonCostMicros int64         `yaml:"person_cost_micros"`
	OrgTokens        int64         `yaml:"organisation_tokens"`
	OrgCostMicros    int64         `yaml:"organisation_cost_micros"`
}

// checkRoles refuses a role without what it needs of the other one.
func (c *config) checkRoles() error {
	if !slices.Contains([]string{roleAll, roleAgent, roleGovernance}, c.Role) {
		return fmt.Errorf("configuration: role: %q is none of %s, %s, %s", c.Role, roleAll, roleAgent, roleGovernance)
	}
	needed := map[string]string{roleAgent: c.Governance.URL, roleGovernance: c.Agent.URL}
	names := map[string]string{roleAgent: "governance.url", roleGovernance: "agent.url"}
	if address, apart := needed[c.Role]; apart {
		if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("configuration: role %s: set %s to where the other role listens, such as http://10.0.0.2:8701", c.Role, names[c.Role])
		}
	}
	if c.Budgets.Window < time.Minute {
		return errors.New("configuration: budgets: window is at least 1m")
	}
	for _, n := range []int64{c.Budgets.PersonTokens, c.Budgets.PersonCostMicros, c.Budgets.OrgTokens, c.Budgets.OrgCostMicros, c.Turns.Tokens} {
		if n < 0 {
			return errors.New("configuration: budgets and turns.tokens can't be negative; 0 is no bound")
		}
	}
	if c.PerMinute < 1 {
		return errors.New("configuration: changes_per_minute is at least 1")
	}
	if c.Traces != "" {
		if u, err := url.Parse(c.Traces); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("configuration: traces: %q is no address of a collector such as http://127.0.0.1:4318", c.Traces)
		}
	}
	return nil
}

// limits are what turns may use.
func (c *config) limits() turn.Limits {
	return turn.Limits{
		Steps: c.Turns.Steps, Tokens: c.Turns.Tokens, CostMicros: c.Turns.CostMicros, Wall: c.Turns.Deadline, Window: c.Budgets.Window,
		PersonTokens: c.Budgets.PersonTokens, PersonCostMicros: c.Budgets.PersonCostMicros, OrgTokens: c.Budgets.OrgTokens, OrgCostMicros: c.Budgets.OrgCostMicros,
	}
}
