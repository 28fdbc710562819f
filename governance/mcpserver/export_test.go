package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Mount adds a fixture of the conformance suite, through the same wrapper that the library gives every tool.
func (s *Server) Mount(t mcp.Tool, h server.ToolHandlerFunc) {
	s.tools[t.Name] = true
	s.mcp.AddTool(t, h)
}

// MountResource adds a resource for the suite.
func (s *Server) MountResource(uri, mime string, h server.ResourceHandlerFunc) {
	s.mcp.AddResource(mcp.NewResource(uri, uri, mcp.WithMIMEType(mime)), h)
}

// MountTemplate adds a resource template for the suite.
func (s *Server) MountTemplate(uri string, h server.ResourceTemplateHandlerFunc) {
	s.mcp.AddResourceTemplate(mcp.NewResourceTemplate(uri, uri), h)
}

// Progress sends progress as a tool of ours would, and waits as long before the result.
func (s *Server) Progress(ctx context.Context, token mcp.ProgressToken, at, total float64) error {
	err := s.mcp.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": token, "progress": at, "total": total})
	pause(ctx, nil, s.c.Limits.Settle)
	return err
}
