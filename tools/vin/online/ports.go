package online

import (
	"context"
	"time"
)

// Cache keeps answers of the service.
type Cache interface {
	// Get returns an answer that was fetched after since.
	Get(ctx context.Context, q Query, since time.Time) (values map[string]string, ok bool, err error)
	// Put keeps answers, one for each query.
	Put(ctx context.Context, queries []Query, answers []map[string]string, at time.Time) error
}
