package submission

import (
	"context"

	"bordereau/tools/table"
)

// Querier runs one statement through the gate, for whoever the caller is.
type Querier interface {
	Query(ctx context.Context, statement string) (table.Table, error)
}
