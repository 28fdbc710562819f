package duck

import (
	"fmt"
	"math"
	"strings"

	bind "github.com/duckdb/duckdb-go-bindings"
)

// putTime appends dates and times. The infinities, which no time.Time is, are put as text, and so are times of day and intervals.
func (v *vector) putTime(b []byte, row int) []byte {
	switch v.column.id {
	case bind.TypeDate:
		d := at[int32](v, row)
		if d == math.MaxInt32 || d == -math.MaxInt32 {
			return infinity(b, d > 0)
		}
		return putTime(b, int64(d)*86400, 0)
	case bind.TypeTimestamp, bind.TypeTimestampTZ:
		return putScaled(b, at[int64](v, row), 1_000_000)
	case bind.TypeTimestampS:
		return putScaled(b, at[int64](v, row), 1)
	case bind.TypeTimestampMS:
		return putScaled(b, at[int64](v, row), 1_000)
	case bind.TypeTimestampNS:
		return putScaled(b, at[int64](v, row), 1_000_000_000)
	case bind.TypeTime:
		return putString(b, tagString, clock(at[int64](v, row)))
	case bind.TypeTimeTZ:
		bits := at[uint64](v, row)
		offset := 57599 - int(bits&0xffffff) // DuckDB stores 15:59:59 minus the offset
		sign := '+'
		if offset < 0 {
			sign, offset = '-', -offset
		}
		return putString(b, tagString, fmt.Sprintf("%s%c%02d:%02d", clock(int64(bits>>24)), sign, offset/3600, offset/60%60))
	case bind.TypeInterval:
		type interval struct {
			months, days int32
			micros       int64
		}
		i := at[interval](v, row)
		return putString(b, tagString, intervalText(i.months, i.days, i.micros))
	}
	return append(b, tagNull)
}

func infinity(b []byte, positive bool) []byte {
	if positive {
		return putString(b, tagString, "infinity")
	}
	return putString(b, tagString, "-infinity")
}

// putScaled appends a timestamp of n units, perSecond of which are a second.
func putScaled(b []byte, n, perSecond int64) []byte {
	if n == math.MaxInt64 || n == -math.MaxInt64 {
		return infinity(b, n > 0)
	}
	sec, rest := n/perSecond, n%perSecond
	if rest < 0 {
		sec, rest = sec-1, rest+perSecond
	}
	return putTime(b, sec, rest*(1_000_000_000/perSecond))
}

func clock(micros int64) string {
	s := fmt.Sprintf("%02d:%02d:%02d", micros/3_600_000_000, micros/60_000_000%60, micros/1_000_000%60)
	if f := micros % 1_000_000; f != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%06d", f), "0")
	}
	return s
}

// intervalText writes an interval as DuckDB does: 1 year 2 months 3 days 04:05:06.
func intervalText(months, days int32, micros int64) string {
	var parts []string
	add := func(n int32, unit string) {
		if n == 1 || n == -1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, unit))
		} else if n != 0 {
			parts = append(parts, fmt.Sprintf("%d %ss", n, unit))
		}
	}
	add(months/12, "year")
	add(months%12, "month")
	add(days, "day")
	if micros != 0 || len(parts) == 0 {
		sign := ""
		if micros < 0 {
			sign, micros = "-", -micros
		}
		parts = append(parts, sign+clock(micros))
	}
	return strings.Join(parts, " ")
}
