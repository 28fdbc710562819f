package export

import (
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"bordereau/governance/gate"
)

// arrowBatch is how many rows go into one record batch.
const arrowBatch = 8 << 10

// arrowEncoder writes Arrow's IPC stream with a schema made from DuckDB's types.
type arrowEncoder struct {
	w     *ipc.Writer
	b     *array.RecordBuilder
	types []Type
	held  int
}

// NewArrow starts an Arrow stream.
func NewArrow(w io.Writer, columns []gate.Column) (Encoder, error) {
	e := &arrowEncoder{}
	fields := make([]arrow.Field, len(columns))
	for i, name := range Names(columns) {
		t := ParseType(columns[i].Type)
		e.types = append(e.types, t)
		fields[i] = arrow.Field{Name: name, Type: t.arrow(), Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	e.w = ipc.NewWriter(w, ipc.WithSchema(schema))
	e.b = array.NewRecordBuilder(memory.DefaultAllocator, schema)
	return e, nil
}

// Row writes one row.
func (e *arrowEncoder) Row(values []any) error {
	for i, v := range values {
		if err := e.types[i].put(e.b.Field(i), v); err != nil {
			return err
		}
	}
	if e.held++; e.held < arrowBatch {
		return nil
	}
	return e.flush()
}

func (e *arrowEncoder) flush() error {
	e.held = 0
	batch := e.b.NewRecordBatch()
	defer batch.Release()
	if err := e.w.Write(batch); err != nil {
		return fmt.Errorf("writing arrow: %w", err)
	}
	return nil
}

// Close writes the end of the stream; a stream without rows has its schema.
func (e *arrowEncoder) Close() error {
	defer e.b.Release()
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Close()
}

// arrow is the Arrow type for t.
func (t Type) arrow() arrow.DataType {
	switch t.kind {
	case boolean:
		return arrow.FixedWidthTypes.Boolean
	case integer:
		return t.arrowInteger()
	case float:
		return arrow.PrimitiveTypes.Float32
	case double:
		return arrow.PrimitiveTypes.Float64
	case decimal, huge:
		return &arrow.Decimal128Type{Precision: int32(t.width), Scale: int32(t.scale)}
	case day:
		return arrow.FixedWidthTypes.Date32
	case instant:
		out := &arrow.TimestampType{Unit: arrow.Microsecond}
		if t.nanos {
			out.Unit = arrow.Nanosecond
		}
		if t.zoned {
			out.TimeZone = "UTC"
		}
		return out
	case bytes:
		return arrow.BinaryTypes.Binary
	case list:
		return arrow.ListOf(t.child(0).arrow())
	case mapping:
		return arrow.MapOf(arrow.BinaryTypes.String, t.child(1).arrow()) // keys arrive as text
	case structure:
		fields := make([]arrow.Field, len(t.fields))
		for i, name := range t.fields {
			fields[i] = arrow.Field{Name: name, Type: t.children[i].arrow(), Nullable: true}
		}
		return arrow.StructOf(fields...)
	default:
		return arrow.BinaryTypes.String
	}
}

func (t Type) arrowInteger() arrow.DataType {
	signed := map[int]arrow.DataType{8: arrow.PrimitiveTypes.Int8, 16: arrow.PrimitiveTypes.Int16, 32: arrow.PrimitiveTypes.Int32, 64: arrow.PrimitiveTypes.Int64}
	unsigned := map[int]arrow.DataType{8: arrow.PrimitiveTypes.Uint8, 16: arrow.PrimitiveTypes.Uint16, 32: arrow.PrimitiveTypes.Uint32, 64: arrow.PrimitiveTypes.Uint64}
	if t.unsigned {
		return unsigned[t.bits]
	}
	return signed[t.bits]
}

// put appends a value of type t to its builder.
func (t Type) put(b array.Builder, v any) error {
	if v == nil {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.ListBuilder:
		return t.putList(b, v)
	case *array.MapBuilder:
		return t.putMap(b, v)
	case *array.StructBuilder:
		return t.putStruct(b, v)
	case *array.Decimal128Builder:
		n, err := t.decimal(v)
		if err != nil {
			return err
		}
		b.Append(decimal128.FromBigInt(n))
		return nil
	case *array.Date32Builder:
		if v, ok := v.(time.Time); ok {
			b.Append(arrow.Date32FromTime(v))
			return nil
		}
	case *array.TimestampBuilder:
		if v, ok := v.(time.Time); ok {
			n := v.UnixMicro()
			if t.nanos {
				n = v.UnixNano()
			}
			b.Append(arrow.Timestamp(n))
			return nil
		}
	case *array.BooleanBuilder:
		if v, ok := v.(bool); ok {
			b.Append(v)
			return nil
		}
	case *array.BinaryBuilder:
		if v, ok := v.([]byte); ok {
			b.Append(v)
			return nil
		}
	case *array.StringBuilder:
		s, err := t.Text(v)
		if err != nil {
			return err
		}
		b.Append(s)
		return nil
	default:
		return t.putNumber(b, v)
	}
	return fmt.Errorf("%w: %T", ErrValue, v)
}

func (t Type) putNumber(b array.Builder, v any) error {
	switch v := v.(type) {
	case float64:
		switch b := b.(type) {
		case *array.Float32Builder:
			b.Append(float32(v))
			return nil
		case *array.Float64Builder:
			b.Append(v)
			return nil
		}
	case int64:
		switch b := b.(type) {
		case *array.Int8Builder:
			b.Append(int8(v))
			return nil
		case *array.Int16Builder:
			b.Append(int16(v))
			return nil
		case *array.Int32Builder:
			b.Append(int32(v))
			return nil
		case *array.Int64Builder:
			b.Append(v)
			return nil
		case *array.Uint8Builder:
			b.Append(uint8(v))
			return nil
		case *array.Uint16Builder:
			b.Append(uint16(v))
			return nil
		case *array.Uint32Builder:
			b.Append(uint32(v))
			return nil
		case *array.Uint64Builder:
			b.Append(uint64(v))
			return nil
		}
	case string: // a number too large for int64
		n, ok := new(big.Int).SetString(v, 10)
		if b, is := b.(*array.Uint64Builder); is && ok && n.IsUint64() {
			b.Append(n.Uint64())
			return nil
		}
	}
	return fmt.Errorf("%w: %T", ErrValue, v)
}

func (t Type) putList(b *array.ListBuilder, v any) error {
	items, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%w: %T", ErrValue, v)
	}
	b.Append(true)
	for _, item := range items {
		if err := t.child(0).put(b.ValueBuilder(), item); err != nil {
			return err
		}
	}
	return nil
}

func (t Type) putMap(b *array.MapBuilder, v any) error {
	entries, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%w: %T", ErrValue, v)
	}
	b.Append(true)
	for _, key := range sortedKeys(entries) {
		if err := (Type{}).put(b.KeyBuilder(), key); err != nil {
			return err
		}
		if err := t.child(1).put(b.ItemBuilder(), entries[key]); err != nil {
			return err
		}
	}
	return nil
}

func (t Type) putStruct(b *array.StructBuilder, v any) error {
	fields, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%w: %T", ErrValue, v)
	}
	b.Append(true)
	for i, name := range t.fields {
		if err := t.child(i).put(b.FieldBuilder(i), fields[name]); err != nil {
			return err
		}
	}
	return nil
}
