package mcpserver

import (
	"context"

	"bordereau/governance/gate"
	"bordereau/tools/extraction"
	"bordereau/tools/submission"
)

// toolRows bounds one statement of a tool.
const toolRows = 20_000

func (s *Server) as(a asked, via string) governed {
	return governed{gate: s.c.Gate, as: principal(a.who, via), max: toolRows}
}

func (s *Server) listSubmissions(ctx context.Context, a asked) (any, error) {
	var ask submission.Ask
	if err := decode(a, &ask); err != nil {
		return nil, err
	}
	return submission.Lister{SQL: s.as(a, "chat")}.List(ctx, ask)
}

func (s *Server) getExtraction(ctx context.Context, a asked) (any, error) {
	var ask extraction.Ask
	if err := decode(a, &ask); err != nil {
		return nil, err
	}
	return extraction.Reader{SQL: s.as(a, "chat")}.Read(ctx, ask)
}

var _ gate.Sink = (*collected)(nil)
