package generation

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"bordereau/governance/dataset/record"
)

func stem(name string) string {
	base := filepath.Base(name)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// parquetCell makes a cell of a value that DuckDB read.
func parquetCell(v any) record.Cell {
	switch v := v.(type) {
	case nil:
		return record.Cell{}
	case string:
		return record.Cell{Set: true, Value: v}
	case []byte:
		return record.Cell{Set: true, Value: string(v)}
	case bool:
		return record.Cell{Set: true, Value: fmt.Sprint(v)}
	case int8:
		return record.Cell{Set: true, Value: int64(v)}
	case int16:
		return record.Cell{Set: true, Value: int64(v)}
	case int32:
		return record.Cell{Set: true, Value: int64(v)}
	case int64:
		return record.Cell{Set: true, Value: v}
	case uint8:
		return record.Cell{Set: true, Value: int64(v)}
	case uint16:
		return record.Cell{Set: true, Value: int64(v)}
	case uint32:
		return record.Cell{Set: true, Value: int64(v)}
	case float32:
		return record.Cell{Set: true, Value: float64(v)}
	case float64:
		return record.Cell{Set: true, Value: v}
	case time.Time:
		return record.Cell{Set: true, Value: v}
	case duckdb.Decimal:
		return record.Cell{Set: true, Value: v.String()}
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = fmt.Sprint(x)
		}
		return record.Cell{Set: true, Value: "[" + strings.Join(parts, ",") + "]"}
	}
	return record.Cell{Set: true, Value: fmt.Sprint(v)}
}
