package toolbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/sandbox"
)

// Bounds of what one turn delivers from its workspace.
const (
	maxArtifact  = 512 << 20
	maxArtifacts = 200
	maxFolders   = 100
)

// takeBaseline notes what lies in the artifacts folder when a turn begins: files of earlier turns are not this turn's.
// A turn that another runner began has no baseline of its own; there what was delivered already tells. The lock is held.
func (p *space) takeBaseline(ctx context.Context) error {
	p.baseline, p.seen = map[string]stamp{}, map[string]stamp{}
	if p.s.turn.Epoch > 1 {
		return nil
	}
	files, err := p.artifactFiles(ctx, p.id)
	if err != nil {
		p.baseline = nil // next time
		return err
	}
	for _, f := range files {
		p.baseline[f.Path] = stamp{f.Size, f.Modified.UnixNano()}
	}
	return nil
}

// artifactFiles lists the regular files below the artifacts folder, folders in folders included.
func (p *space) artifactFiles(ctx context.Context, id string) ([]sandbox.File, error) {
	found := map[string]sandbox.File{}
	folders := []string{sandbox.ArtifactsDir}
	for i := 0; i < len(folders) && i < maxFolders; i++ {
		entries, err := p.s.c.Sandboxes.ListFiles(ctx, id, folders[i])
		if errors.Is(err, sandbox.ErrNoFile) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing artifacts: %w", err)
		}
		for _, e := range entries {
			switch {
			case e.Mode.IsDir() && !slices.Contains(folders, e.Path):
				folders = append(folders, e.Path)
			case e.Mode.IsRegular() && strings.HasPrefix(e.Path, sandbox.ArtifactsDir+"/"):
				found[e.Path] = e
			}
		}
	}
	files := slices.Collect(maps.Values(found))
	slices.SortFunc(files, func(a, b sandbox.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// Collect keeps the files that are new or changed. A turn that hasn't touched its sandbox has none.
func (s *session) Collect(ctx context.Context) ([]journal.Artifact, error) {
	p := s.space
	if !p.used.Load() && s.turn.Epoch <= 1 {
		return nil, nil
	}
	var out []journal.Artifact
	err := p.do(ctx, func(id string) error {
		var err error
		out, err = s.collect(ctx, id)
		return err
	})
	if err == nil {
		return out, nil
	}
	var f *fault
	if !errors.As(err, &f) {
		f = ofSandbox(err)
	}
	return nil, f.failure(err)
}

func (s *session) collect(ctx context.Context, id string) ([]journal.Artifact, error) {
	p := s.space
	files, err := p.artifactFiles(ctx, id)
	if err != nil {
		return nil, err
	}
	delivered, err := s.delivered(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	baseline, seen := maps.Clone(p.baseline), maps.Clone(p.seen)
	p.mu.Unlock()
	var out []journal.Artifact
	for _, f := range files {
		now := stamp{f.Size, f.Modified.UnixNano()}
		if baseline[f.Path] == now || seen[f.Path] == now {
			continue
		}
		if f.Size > maxArtifact || len(seen) >= maxArtifacts {
			s.log.WarnContext(ctx, "artifact left in the workspace", slog.Int64("size", f.Size), slog.Int("delivered", len(seen)))
			continue
		}
		a, err := s.keep(ctx, id, f)
		if err != nil {
			return nil, err
		}
		seen[f.Path] = now
		if delivered[a.Name] != a.SHA256 {
			out = append(out, a)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.seen, seen)
	p.keep(ctx)
	return out, nil
}

// delivered is what earlier runners of this turn, or earlier turns, delivered; only asked when a baseline can't tell.
func (s *session) delivered(ctx context.Context) (map[string]string, error) {
	if s.turn.Epoch <= 1 {
		return nil, nil
	}
	all, err := s.c.Delivered.Artifacts(ctx, journal.Owner{Org: s.turn.Org, Person: s.turn.Person, Role: s.turn.Role}, s.turn.Conversation)
	if err != nil {
		return nil, &fault{Code: "unavailable", Component: "journal", Message: "the conversation's artifacts can't be listed"}
	}
	latest := map[string]string{}
	slices.SortStableFunc(all, func(a, b journal.Artifact) int { return a.Created.Compare(b.Created) })
	for _, a := range all {
		latest[a.Name] = a.SHA256
	}
	return latest, nil
}

func (s *session) keep(ctx context.Context, id string, f sandbox.File) (journal.Artifact, error) {
	r, _, err := s.c.Sandboxes.ReadFile(ctx, id, f.Path)
	if err != nil {
		return journal.Artifact{}, fmt.Errorf("reading an artifact: %w", err)
	}
	defer r.Close()
	name := artifact.CleanName(strings.ReplaceAll(strings.TrimPrefix(f.Path, sandbox.ArtifactsDir+"/"), "/", "-"))
	kept, err := s.c.Files.Put(ctx, artifact.Put{Org: s.turn.Org, Name: name, Content: r, Limit: maxArtifact})
	if err != nil {
		return journal.Artifact{}, &fault{Code: "unavailable", Component: "artifacts", Message: "a file could not be kept", Hint: "the artifact store may be full or down"}
	}
	return journal.Artifact{
		Org: s.turn.Org, Conversation: s.turn.Conversation, Turn: s.turn.ID, Name: name,
		MediaType: kept.MediaType, Size: kept.Size, SHA256: kept.SHA256,
	}, nil
}
