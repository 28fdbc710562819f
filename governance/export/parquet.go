package export

import (
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/parquet-go/parquet-go"

	"bordereau/governance/gate"
)

// rowGroup is how many rows are held before they are written out as one group.
const rowGroup = 32 << 10

// parquetEncoder writes Parquet with a schema made from DuckDB's types. Each column is optional, since SQL's are.
type parquetEncoder struct {
	w      *parquet.GenericWriter[any]
	shapes []shape
	leaves [][]parquet.Value
	row    parquet.Row
	held   int
}

// NewParquet starts a Parquet file.
func NewParquet(w io.Writer, columns []gate.Column) (Encoder, error) {
	e := &parquetEncoder{}
	root := &group{}
	next := 0
	for i, name := range Names(columns) {
		s, node := plan(ParseType(columns[i].Type), 0, &next)
		e.shapes = append(e.shapes, s)
		root.add(name, node)
	}
	e.leaves = make([][]parquet.Value, next)
	e.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("rows", root), parquet.Compression(&parquet.Snappy),
		parquet.CreatedBy("bordereau", "1", ""), parquet.DataPageStatistics(true))
	return e, nil
}

func (e *parquetEncoder) Row(values []any) error {
	for i := range e.leaves {
		e.leaves[i] = e.leaves[i][:0]
	}
	for i, v := range values {
		if err := e.shapes[i].shred(v, 0, 0, e.leaves); err != nil {
			return err
		}
	}
	e.row = e.row[:0]
	for _, leaf := range e.leaves {
		e.row = append(e.row, leaf...)
	}
	if _, err := e.w.WriteRows([]parquet.Row{e.row}); err != nil {
		return fmt.Errorf("writing parquet: %w", err)
	}
	if e.held++; e.held == rowGroup {
		e.held = 0
		if err := e.w.Flush(); err != nil {
			return fmt.Errorf("writing parquet: %w", err)
		}
	}
	return nil
}

func (e *parquetEncoder) Close() error { return e.w.Close() }

// shape is a column or a part of one, and the leaves that its values go to.
type shape struct {
	t        Type
	depth    int // repetition level of the lists and maps around it
	first    int // index of its first leaf
	end      int // one past its last
	required bool
	children []shape
}

// plan lays out a type from leaf *next on.
func plan(t Type, depth int, next *int) (shape, parquet.Node) {
	s := shape{t: t, depth: depth, first: *next}
	var node parquet.Node
	switch t.kind {
	case list:
		child, of := plan(t.child(0), depth+1, next)
		s.children, node = []shape{child}, parquet.List(of)
	case mapping:
		*next++
		key := shape{depth: depth + 1, first: *next - 1, end: *next, required: true} // keys arrive as text
		value, of := plan(t.child(1), depth+1, next)
		s.children, node = []shape{key, value}, parquet.Map(parquet.String(), of)
	case structure:
		g := &group{}
		for i, name := range t.fields {
			child, of := plan(t.children[i], depth, next)
			s.children = append(s.children, child)
			g.add(name, of)
		}
		node = g
	default:
		*next++
		node = leafNode(t)
	}
	s.end = *next
	return s, parquet.Optional(node)
}

func leafNode(t Type) parquet.Node {
	switch t.kind {
	case boolean:
		return parquet.Leaf(parquet.BooleanType)
	case integer:
		if t.unsigned {
			return parquet.Uint(t.bits)
		}
		return parquet.Int(t.bits)
	case float:
		return parquet.Leaf(parquet.FloatType)
	case double:
		return parquet.Leaf(parquet.DoubleType)
	case decimal, huge:
		switch {
		case t.width <= 9:
			return parquet.Decimal(t.scale, t.width, parquet.Int32Type)
		case t.width <= 18:
			return parquet.Decimal(t.scale, t.width, parquet.Int64Type)
		default:
			return parquet.Decimal(t.scale, t.width, parquet.FixedLenByteArrayType(16))
		}
	case day:
		return parquet.Date()
	case instant:
		if t.nanos {
			return parquet.TimestampAdjusted(parquet.Nanosecond, t.zoned)
		}
		return parquet.TimestampAdjusted(parquet.Microsecond, t.zoned)
	case bytes:
		return parquet.Leaf(parquet.ByteArrayType)
	default:
		return parquet.String()
	}
}

// shred appends v to the leaves, as Dremel has it: rep says at which list it continues, def how much of the path is there.
func (s *shape) shred(v any, rep, def int, leaves [][]parquet.Value) error {
	if v == nil && !s.required {
		s.absent(rep, def, leaves)
		return nil
	}
	if !s.required {
		def++
	}
	switch s.t.kind {
	case list:
		items, ok := v.([]any)
		if !ok {
			return s.wrong(v)
		}
		if len(items) == 0 {
			s.absent(rep, def, leaves)
		}
		for i, item := range items {
			if err := s.children[0].shred(item, s.repetition(i, rep), def+1, leaves); err != nil {
				return err
			}
		}
	case mapping:
		entries, ok := v.(map[string]any)
		if !ok {
			return s.wrong(v)
		}
		if len(entries) == 0 {
			s.absent(rep, def, leaves)
		}
		for i, key := range sortedKeys(entries) {
			r := s.repetition(i, rep)
			if err := s.children[0].shred(key, r, def+1, leaves); err != nil {
				return err
			}
			if err := s.children[1].shred(entries[key], r, def+1, leaves); err != nil {
				return err
			}
		}
	case structure:
		fields, ok := v.(map[string]any)
		if !ok {
			return s.wrong(v)
		}
		for i, name := range s.t.fields {
			if err := s.children[i].shred(fields[name], rep, def, leaves); err != nil {
				return err
			}
		}
	default:
		value, err := s.t.leaf(v)
		if err != nil {
			return err
		}
		leaves[s.first] = append(leaves[s.first], value.Level(rep, def, s.first))
	}
	return nil
}

// repetition is the level of the i-th item: the first continues what is outside.
func (s *shape) repetition(i, rep int) int {
	if i == 0 {
		return rep
	}
	return s.depth + 1
}

func (s *shape) absent(rep, def int, leaves [][]parquet.Value) {
	for i := s.first; i < s.end; i++ {
		leaves[i] = append(leaves[i], parquet.NullValue().Level(rep, def, i))
	}
}

func (s *shape) wrong(v any) error { return fmt.Errorf("%w: %T", ErrValue, v) }

// leaf is one value of a type that holds no others.
func (t Type) leaf(v any) (parquet.Value, error) {
	switch v := v.(type) {
	case bool:
		if t.kind == boolean {
			return parquet.BooleanValue(v), nil
		}
	case int64:
		switch {
		case t.kind == integer && t.bits == 64:
			return parquet.Int64Value(v), nil
		case t.kind == integer:
			return parquet.Int32Value(int32(v)), nil
		case t.kind == huge || t.kind == decimal:
			n, err := t.decimal(v)
			if err != nil {
				return parquet.Value{}, err
			}
			return t.unscaled(n)
		}
	case float64:
		switch t.kind {
		case float:
			return parquet.FloatValue(float32(v)), nil
		case double:
			return parquet.DoubleValue(v), nil
		}
	case time.Time:
		switch {
		case t.kind == day:
			return parquet.Int32Value(int32(v.Unix() / 86400)), nil
		case t.kind == instant && t.nanos:
			return parquet.Int64Value(v.UnixNano()), nil
		case t.kind == instant:
			return parquet.Int64Value(v.UnixMicro()), nil
		}
	case []byte:
		return parquet.ByteArrayValue(v), nil
	case string:
		return t.fromText(v)
	}
	if t.kind == text {
		s, err := t.Text(v)
		return parquet.ByteArrayValue([]byte(s)), err
	}
	return parquet.Value{}, fmt.Errorf("%w: %T", ErrValue, v)
}

// fromText is a value that came as text: a string, or a number too large for int64.
func (t Type) fromText(v string) (parquet.Value, error) {
	switch t.kind {
	case text:
		return parquet.ByteArrayValue([]byte(v)), nil
	case decimal, huge:
		n, err := t.decimal(v)
		if err != nil {
			return parquet.Value{}, err
		}
		return t.unscaled(n)
	case integer:
		n, ok := new(big.Int).SetString(v, 10)
		if ok && t.unsigned && n.IsUint64() {
			return parquet.Int64Value(int64(n.Uint64())), nil
		}
	}
	return parquet.Value{}, fmt.Errorf("%w: a number, date or time that is infinite or out of range", ErrValue)
}

func (t Type) unscaled(n *big.Int) (parquet.Value, error) {
	switch {
	case t.width <= 9:
		return parquet.Int32Value(int32(n.Int64())), nil
	case t.width <= 18:
		return parquet.Int64Value(n.Int64()), nil
	}
	out := make([]byte, 16)
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 128)) // two's complement
	}
	return parquet.FixedLenByteArrayValue(n.FillBytes(out)), nil
}
