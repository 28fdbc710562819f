// Package toolbox gives one turn its tools: governance's over MCP, the workspace's over the sandbox, and the report's.
package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/turn"
	"bordereau/governance/turntoken"
)

// Reader opens content by hash.
type Reader interface {
	Open(ctx context.Context, org, sha string) (io.ReadSeekCloser, int64, error)
}

// Governed is the list of tools that a turn may call at governance.
func Governed() []string {
	return []string{"decode_vins", "describe_data", "get_extraction", "list_submissions", "reconcile", "sql"}
}

// ErrConfig is returned by New for a Config that lacks something.
var ErrConfig = errors.New("toolbox: incomplete configuration")

// Config is what a Toolbox is made of. Every field is required but those that name a default.
type Config struct {
	Minter     turntoken.Minter
	Stamper    turntoken.Stamper
	MCP        string       // governance's endpoint, such as http://127.0.0.1:7421/mcp
	HTTP       *http.Client // shared by all turns, with no timeout of its own: calls bring theirs
	Workspaces Workspaces
	Sandboxes  Sandboxes
	Files      Files
	Uploads    Uploads
	Delivered  Delivered
	Renderer   Renderer
	Log        *slog.Logger
	Allow      []string         // tools of governance; default Governed()
	Patience   time.Duration    // how long a part that fails in passing is asked again; default 60 s
	Preflight  time.Duration    // the same for the check before the model is asked; default 10 s
	NoDoors    bool             // sandboxes reach governance over a network: their tokens are bound to a key of their own (DPoP)
	Prefetch   bool             // fetch the sandbox beside the first model call, not at the first tool that needs it
	Now        func() time.Time // default time.Now
}

// Toolbox opens the tools of turns.
type Toolbox struct{ c Config }

var _ turn.Toolbox = (*Toolbox)(nil)

// New checks c and returns a Toolbox.
func New(c Config) (*Toolbox, error) {
	for name, missing := range map[string]bool{
		"HTTP": c.HTTP == nil, "Workspaces": c.Workspaces == nil, "Sandboxes": c.Sandboxes == nil, "Files": c.Files == nil,
		"Uploads": c.Uploads == nil, "Delivered": c.Delivered == nil, "Renderer": c.Renderer == nil, "Log": c.Log == nil, "MCP": c.MCP == "",
	} {
		if missing {
			return nil, fmt.Errorf("%w: %s is missing", ErrConfig, name)
		}
	}
	if u, err := url.Parse(c.MCP); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%w: MCP is no http URL", ErrConfig)
	}
	if err := c.Stamper.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if _, _, err := c.Minter.Mint(turntoken.Grant{Org: "o", Person: "p", Role: "r", Conversation: "c", Turn: "t", Sandbox: "s"}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.Allow == nil {
		c.Allow = Governed()
	}
	c.Allow = slices.Sorted(slices.Values(c.Allow))
	if c.Patience == 0 {
		c.Patience = time.Minute
	}
	if c.Preflight == 0 {
		c.Preflight = 10 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Toolbox{c: c}, nil
}

// Open mints the turn's token and checks that governance answers with exactly the tools that the turn may use.
func (b *Toolbox) Open(ctx context.Context, t journal.Turn, o turn.Observer) (turn.Tools, error) {
	id, err := b.c.Workspaces.Reserve(ctx, t.Org, t.Conversation)
	if err != nil {
		return nil, &turn.Failure{
			Component: "sandbox", Class: "unavailable", Message: "the conversation's sandbox could not be named",
			Hint: "try again; if it stays so, look at the sandbox host", Cause: err,
		}
	}
	s := &session{c: b.c, turn: t, observer: o}
	s.log = b.c.Log.With(slog.String("turn_id", t.ID), slog.String("org", t.Org))
	key, err := sandboxKey(!b.c.NoDoors)
	if err != nil {
		return nil, &turn.Failure{Component: "toolbox", Class: "internal", Message: "the sandbox's key could not be made", Cause: err}
	}
	s.token = &token{minter: b.c.Minter, now: b.c.Now, key: key, grant: turntoken.Grant{
		Org: t.Org, Person: t.Person, Role: t.Role, Conversation: t.Conversation, Turn: t.ID, Epoch: t.Epoch, Sandbox: id, Tools: b.c.Allow,
	}}
	if _, _, err := s.token.get(); err != nil {
		return nil, &turn.Failure{Component: "toolbox", Class: "internal", Message: "the turn's token could not be made", Cause: err}
	}
	if s.governance, err = dial(b.c, s.token); err != nil {
		return nil, &turn.Failure{Component: "governance", Class: "internal", Message: "governance's address can't be used", Cause: err}
	}
	if s.tools, err = s.preflight(ctx); err != nil {
		s.governance.close()
		return nil, err
	}
	s.space = newSpace(s)
	s.start(ctx)
	return s, nil
}
