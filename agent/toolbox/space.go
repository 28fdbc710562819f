package toolbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"sync"
	"sync/atomic"

	"bordereau/agent/artifact"
	"bordereau/sandbox"
)

// space is the turn's workspace: fetched once when first needed, fetched again when it was lost.
type space struct {
	s *session

	// Read without the lock, which is held while a sandbox is fetched: a step that needs none must not wait for it.
	used  atomic.Bool // a tool of this turn did something in it
	dirty atomic.Bool // and did so since the workspace was kept

	mu       sync.Mutex // held while fetching: whoever else needs the sandbox waits for the same fetch
	id       string     // "" while not fetched
	note     string     // to tell with the next result
	token    string     // the token that the sandbox holds
	synced   map[string]string
	baseline map[string]stamp
	seen     map[string]stamp
}

// stamp tells whether a file changed.
type stamp struct {
	size     int64
	modified int64
}

func newSpace(s *session) *space { return &space{s: s} }

// get returns the id of the running sandbox, with the turn's token and the conversation's documents in it.
func (p *space) get(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		if err := p.fetch(ctx); err != nil {
			return "", err
		}
	}
	if err := p.putToken(ctx); err != nil {
		return "", p.dropIfLost(err)
	}
	return p.id, p.dropIfLost(p.putDocuments(ctx))
}

func (p *space) fetch(ctx context.Context) error {
	s := p.s
	began := s.c.Now()
	var w Workspace
	err := s.again(ctx, "sandbox", s.c.Patience, func() (bool, error) {
		var err error
		w, err = s.c.Workspaces.Acquire(ctx, s.turn.Org, s.turn.Conversation)
		return errors.Is(err, sandbox.ErrUnavailable), err
	})
	s.observer.Waited("sandbox", began, s.c.Now().Sub(began), "fetched")
	if err != nil {
		return fmt.Errorf("fetching the sandbox: %w", err)
	}
	s.token.move(w.ID)
	p.id, p.token, p.synced = w.ID, "", map[string]string{}
	if w.Note != "" {
		p.note = w.Note
	}
	if p.baseline == nil {
		return p.dropIfLost(p.takeBaseline(ctx))
	}
	return nil
}

// putToken gives the sandbox the present token. The lock is held.
func (p *space) putToken(ctx context.Context) error {
	text, err := p.s.token.credential()
	if err != nil || text == p.token {
		return err
	}
	if err := p.s.c.Sandboxes.SetToken(ctx, p.id, text); err != nil {
		return fmt.Errorf("giving the sandbox its token: %w", err)
	}
	p.token = text
	return nil
}

// refreshToken renews the token in a sandbox that was fetched.
func (p *space) refreshToken(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		_, _, err := p.s.token.get()
		return err
	}
	return p.dropIfLost(p.putToken(ctx))
}

// putDocuments copies uploads that the workspace doesn't have. The lock is held.
func (p *space) putDocuments(ctx context.Context) error {
	s := p.s
	uploads, err := s.c.Uploads.List(ctx, s.turn.Org, s.turn.Conversation)
	if err != nil {
		return &fault{Code: "unavailable", Component: "journal", Message: "the conversation's uploads can't be listed"}
	}
	var there map[string]int64
	for _, u := range uploads {
		if p.synced[u.Name] == u.SHA256 {
			continue
		}
		if there == nil {
			if there, err = p.documents(ctx); err != nil {
				return err
			}
		}
		// A name is bound to one content for good, so a file of that name and size is that file, unless code in the sandbox
		// changed it: its own loss.
		if size, ok := there[u.Name]; !ok || size != u.Size {
			if err := p.putDocument(ctx, u); err != nil {
				return err
			}
		}
		p.synced[u.Name] = u.SHA256
	}
	return nil
}

// touch notes that something is going to change in the workspace.
func (p *space) touch() {
	p.used.Store(true)
	p.dirty.Store(true)
}

// keep stores the workspace when something was done in it. A copy that fails costs nothing unless the sandbox is lost too,
// so the turn goes on; what is lost then is told. The lock is held.
func (p *space) keep(ctx context.Context) {
	s := p.s
	if p.id == "" || !p.dirty.Load() {
		return
	}
	left, err := s.c.Workspaces.Keep(ctx, p.id)
	if err != nil {
		s.log.WarnContext(ctx, "workspace not kept", slog.String("sandbox", p.id), slog.Any("error", err))
		return
	}
	if len(left) > 0 {
		s.log.InfoContext(ctx, "workspace kept in part", slog.String("sandbox", p.id), slog.Int("left", len(left)))
	}
	p.dirty.Store(false)
}

func (p *space) documents(ctx context.Context) (map[string]int64, error) {
	there := map[string]int64{}
	files, err := p.s.c.Sandboxes.ListFiles(ctx, p.id, sandbox.DocumentsDir)
	if err != nil && !errors.Is(err, sandbox.ErrNoFile) {
		return nil, fmt.Errorf("listing documents: %w", err)
	}
	for _, f := range files {
		there[path.Base(f.Path)] = f.Size
	}
	return there, nil
}

func (p *space) putDocument(ctx context.Context, u artifact.Upload) error {
	r, _, err := p.s.c.Files.Open(ctx, u.Org, u.SHA256)
	if err != nil {
		return &fault{Code: "internal", Component: "artifacts", Message: fmt.Sprintf("the upload %s can't be read", u.Name), Hint: "the log has the details"}
	}
	defer r.Close()
	if err := p.s.c.Sandboxes.WriteFile(ctx, p.id, path.Join(sandbox.DocumentsDir, artifact.CleanName(u.Name)), r); err != nil {
		return fmt.Errorf("copying %s into the workspace: %w", u.Name, err)
	}
	return nil
}

// do acts on the sandbox. One that was lost is fetched again, once: the act must be safe to repeat.
func (p *space) do(ctx context.Context, f func(id string) error) error {
	var err error
	for range 2 {
		var id string
		if id, err = p.get(ctx); err != nil {
			return err
		}
		if err = f(id); !lost(err) {
			return err
		}
		p.drop(id)
		p.s.log.WarnContext(ctx, "sandbox lost", slog.String("sandbox", id), slog.Any("error", err))
	}
	return err
}

// drop forgets a sandbox that was lost, unless another one was fetched meanwhile.
func (p *space) drop(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == id {
		p.forget()
	}
}

// forget gives the sandbox back. The lock is held.
func (p *space) forget() {
	p.s.c.Workspaces.Release(p.id)
	p.id, p.token = "", ""
}

// dropIfLost forgets the sandbox when err says that it is gone. The lock is held.
func (p *space) dropIfLost(err error) error {
	if lost(err) && p.id != "" {
		p.forget()
	}
	return err
}

func lost(err error) bool {
	return errors.Is(err, sandbox.ErrNotFound) || errors.Is(err, sandbox.ErrUnavailable)
}

// takeNote returns what is to be told about the sandbox, once.
func (p *space) takeNote() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	note := p.note
	p.note = ""
	return note
}

// close takes the token out of the sandbox, keeps the workspace and gives the sandbox back. One that is gone has no token.
func (p *space) close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		return nil
	}
	var err error
	if p.token != "" {
		err = p.s.c.Sandboxes.SetToken(ctx, p.id, "")
	}
	if lost(err) {
		err = nil
	} else {
		p.keep(ctx)
	}
	p.forget()
	return err
}
