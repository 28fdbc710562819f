package hosted

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"

	"bordereau/sandbox"
)

// binDir holds the client inside; the services give no read-only folder.
const binDir = Private + "/bin"

// Governance says how code inside reaches governed data, since the services give no door: over the network, to one address, with a
// proof of the key beside the token on each call. The zero value is no way at all.
type Governance struct {
	Endpoint string         // https address of governance's MCP endpoint
	Networks []netip.Prefix // where that address is; nothing else is let through
	Client   string         // the static gov program for the sandboxes' machines
}

// Check refuses what is incomplete.
func (g Governance) Check() error {
	if g.Endpoint == "" {
		if g.Client != "" || len(g.Networks) > 0 {
			return errors.New("hosted: networks and a client are for an endpoint, which is missing")
		}
		return nil
	}
	u, err := url.Parse(g.Endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return fmt.Errorf("hosted: %q is not an https address", g.Endpoint)
	}
	if len(g.Networks) == 0 {
		return errors.New("hosted: the networks of governance's address are required: without them a sandbox can't reach it")
	}
	for _, n := range g.Networks {
		if n.Bits() < 8 {
			return fmt.Errorf("hosted: the network %s is far wider than one service", n)
		}
	}
	if _, err := os.Stat(g.Client); err != nil {
		return fmt.Errorf("hosted: there is no client at %q: make build", g.Client)
	}
	return nil
}

// Allowed lists the networks as the services want them.
func (g Governance) Allowed() []string {
	all := make([]string, 0, len(g.Networks))
	for _, n := range g.Networks {
		all = append(all, n.String())
	}
	return all
}

// Env is what every command gets.
func (g Governance) Env() map[string]string {
	if g.Endpoint == "" {
		return nil
	}
	return map[string]string{"BORDEREAU_ENDPOINT": g.Endpoint, "PATH": binDir + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
}

// installer is what Install needs of a driver.
type installer interface {
	tokens
	sandbox.Executor
}

// Install puts the client into a new sandbox.
func (g Governance) Install(ctx context.Context, d installer, id string) error {
	if g.Endpoint == "" {
		return nil
	}
	f, err := os.Open(g.Client)
	if err != nil {
		return sandbox.Unavailable(err, "the client for code inside can't be read")
	}
	defer f.Close()
	if err := d.WriteFile(ctx, id, binDir+"/gov", f); err != nil {
		return err
	}
	r, err := d.Exec(ctx, id, sandbox.Command{Args: []string{"chmod", "0755", binDir + "/gov"}})
	if err == nil && r.ExitCode != 0 {
		err = sandbox.Unavailable(nil, "the client can't be installed (%d)", r.ExitCode)
	}
	return err
}
