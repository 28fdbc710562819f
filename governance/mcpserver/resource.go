package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"bordereau/governance/export"
	"bordereau/governance/fault"
	"bordereau/governance/run"
	"bordereau/governance/turntoken"
	"bordereau/tools/literal"
)

// partBytes is the size of every part of a resource but the last.
const partBytes = 1 << 20

// resourceURI is how the parts of the kinds of resource are named.
var resourceURI = regexp.MustCompile(`^bordereau://(export|run|review|document)/([A-Za-z0-9][A-Za-z0-9._:~-]{0,199})/([1-9][0-9]{0,5})$`)

func exportURI(id string) string { return "bordereau://export/" + id }
func runURI(id string) string    { return "bordereau://run/" + id }

func (s *Server) addResources() {
	for _, r := range []struct{ kind, title, text string }{
		{"export", "Part of a whole result", "Part 1, 2, … of what sql wrote with export; sha256 is of all parts together. For this turn only."},
		{"run", "Part of a reconciliation run", "Part 1, 2, … of the JSON of a run that reconcile stored."},
		{"review", "Part of the reviews of a run", "Part 1, 2, … of the JSON of what people said of a run's findings, in their order."},
		{"document", "Part of a document", "Part 1, 2, … of a document as it came. Not masked: only roles that see everything may read it."},
	} {
		s.mcp.AddResourceTemplate(
			mcp.NewResourceTemplate("bordereau://"+r.kind+"/{id}/{part}", r.title, mcp.WithTemplateDescription(r.text), mcp.WithTemplateMIMEType("application/octet-stream")),
			s.readResource)
	}
}

func (s *Server) readResource(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	who, ok := callerOf(ctx)
	if !ok {
		return nil, wireError{&fault.Error{Code: fault.Auth, Component: component, Message: "the call has no verified token"}}
	}
	part, f := s.part(ctx, who, request.Params.URI)
	if f != nil {
		if !mendable(f.Code) {
			s.c.Log.ErrorContext(ctx, "resource not read", "org", who.Org, "turn_id", who.Turn, "code", string(f.Code), "error", f.Unwrap())
		}
		return nil, wireError{f}
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{
		URI: request.Params.URI, MIMEType: "application/octet-stream", Blob: base64.StdEncoding.EncodeToString(part),
	}}, nil
}

// part reads one part of what the caller may read. A resource that isn't the caller's doesn't exist.
func (s *Server) part(ctx context.Context, who turntoken.Claims, uri string) ([]byte, *fault.Error) {
	m := resourceURI.FindStringSubmatch(uri)
	if m == nil {
		return nil, &fault.Error{Code: fault.NotFound, Component: component, Message: "no such resource", Hint: "bordereau://export|run|review|document/{id}/{part}, part 1, 2, …"}
	}
	n, err := strconv.Atoi(m[3])
	if err != nil {
		return nil, &fault.Error{Code: fault.NotFound, Component: component, Message: "no such part"}
	}
	kind, id := m[1], m[2]
	needs := map[string]string{"export": "sql", "run": "reconcile", "review": "reconcile", "document": "get_extraction"}[kind]
	if !who.May(needs) {
		return nil, &fault.Error{Code: fault.NotFound, Component: component, Message: "no such resource"}
	}
	var part []byte
	switch kind {
	case "export":
		part, err = s.c.Exports.Part(ctx, who.Org, who.Turn, id, n)
		if errors.Is(err, export.ErrNotFound) {
			return nil, typeError(err, component)
		}
	case "run":
		part, err = s.runPart(ctx, who, id, n)
	case "review":
		part, err = s.reviewPart(ctx, who, id, n)
	default:
		part, err = s.documentPart(ctx, who, id, n)
	}
	if err != nil {
		return nil, typeError(err, component)
	}
	return part, nil
}

// runPart is for the role that the run was made for: it holds what that role saw.
func (s *Server) runPart(ctx context.Context, who turntoken.Claims, id string, n int) ([]byte, error) {
	r, err := s.c.Runs.Get(ctx, who.Org, id)
	if err != nil {
		return nil, err
	}
	if r.Role != who.Role {
		return nil, run.ErrNotFound
	}
	return s.c.Runs.Part(ctx, who.Org, id, n)
}

// reviewPart is for those who may read the run.
func (s *Server) reviewPart(ctx context.Context, who turntoken.Claims, id string, n int) ([]byte, error) {
	r, err := s.c.Runs.Get(ctx, who.Org, id)
	if err != nil {
		return nil, err
	}
	if r.Role != who.Role {
		return nil, run.ErrNotFound
	}
	reviews, err := s.c.Runs.Reviews(ctx, who.Org, id, 0)
	if err != nil {
		return nil, err
	}
	whole, err := json.Marshal(reviews)
	if err != nil {
		return nil, fmt.Errorf("reviews as JSON: %w", err)
	}
	if (n-1)*partBytes >= len(whole) {
		return nil, run.ErrNotFound
	}
	return whole[(n-1)*partBytes : min(n*partBytes, len(whole))], nil
}

// seesOriginals tells whether a role may read documents as they came: one that sees everything unmasked.
func (s *Server) seesOriginals(name string) bool {
	role, ok := s.c.Policy.Roles[name]
	if !ok {
		return false
	}
	profile, ok := s.c.Policy.Profiles[role.Profile]
	return ok && len(profile.Mask) == 0
}

// sightLife is how long a document stays in sight of a turn, so that its parts aren't each a query.
const sightLife = 5 * time.Minute

// documentSQL asks the gate, so that row filters hold and the reading is on record.
const documentSQL = `SELECT document_id, filename, sha256 FROM documents WHERE document_id = $1`

func (s *Server) documentPart(ctx context.Context, who turntoken.Claims, id string, n int) ([]byte, error) {
	if !s.seesOriginals(who.Role) {
		return nil, &fault.Error{
			Code: fault.Denied, Component: component, Rule: "original_documents", Message: "the role may not read documents as they came, since they are not masked",
			Hint: "get_extraction gives what was read from a document, masked",
		}
	}
	if err := s.sight(ctx, who, id); err != nil {
		return nil, err
	}
	file, err := s.c.Documents.Document(ctx, who.Org, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	offset := int64(n-1) * partBytes
	if seeker, ok := file.(io.Seeker); ok {
		_, err = seeker.Seek(offset, io.SeekStart)
	} else if _, err = io.CopyN(io.Discard, file, offset); errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	part, err := io.ReadAll(io.LimitReader(file, partBytes))
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	if len(part) == 0 && n > 1 {
		return nil, &fault.Error{Code: fault.NotFound, Component: component, Message: "the document has no such part"}
	}
	return part, nil
}

// sight asks whether the caller's data has that document.
func (s *Server) sight(ctx context.Context, who turntoken.Claims, id string) error {
	key := who.Org + "\x00" + who.Turn + "\x00" + who.Role + "\x00" + id
	now := s.c.Now()
	s.mu.Lock()
	seen := s.seen[key]
	for k, at := range s.seen { // few: documents of the last minutes
		if now.Sub(at) > sightLife {
			delete(s.seen, k)
		}
	}
	s.mu.Unlock()
	if now.Sub(seen) < sightLife {
		return nil
	}
	statement, err := literal.Bind(documentSQL, id)
	if err != nil {
		return err
	}
	found, err := governed{gate: s.c.Gate, as: principal(who, "chat"), max: 1}.Query(ctx, statement)
	if err != nil {
		return err
	}
	if len(found.Rows) == 0 {
		return &fault.Error{Code: fault.NotFound, Component: component, Message: "no such document", AuditID: found.AuditID}
	}
	s.mu.Lock()
	s.seen[key] = now
	s.mu.Unlock()
	return nil
}
