package duck

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unsafe"

	bind "github.com/duckdb/duckdb-go-bindings"
)

// vector reads one column of one chunk. Its pointers live as long as the chunk.
type vector struct {
	column   *column
	data     unsafe.Pointer
	mask     unsafe.Pointer
	children []vector
}

func readVector(c *column, v bind.Vector) vector {
	out := vector{column: c, mask: bind.VectorGetValidity(v)}
	switch c.id {
	case bind.TypeStruct:
		for i := range c.children {
			out.children = append(out.children, readVector(&c.children[i], bind.StructVectorGetChild(v, bind.IdxT(i))))
		}
	case bind.TypeArray:
		out.children = []vector{readVector(&c.children[0], bind.ArrayVectorGetChild(v))}
	case bind.TypeList:
		out.data = bind.VectorGetData(v)
		out.children = []vector{readVector(&c.children[0], bind.ListVectorGetChild(v))}
	case bind.TypeMap: // a list of structs of key and value
		out.data = bind.VectorGetData(v)
		entries := bind.ListVectorGetChild(v)
		for i := range c.children {
			out.children = append(out.children, readVector(&c.children[i], bind.StructVectorGetChild(entries, bind.IdxT(i))))
		}
	default:
		out.data = bind.VectorGetData(v)
	}
	return out
}

func (v *vector) null(row int) bool {
	if v.mask == nil {
		return false
	}
	word := *(*uint64)(unsafe.Add(v.mask, row/64*8))
	return word&(1<<(row%64)) == 0
}

func at[T any](v *vector, row int) T {
	var zero T
	return *(*T)(unsafe.Add(v.data, uintptr(row)*unsafe.Sizeof(zero)))
}

// text returns the bytes of a string, which belong to the chunk. DuckDB keeps up to 12 bytes in place, else a pointer.
func (v *vector) text(row int) string {
	p := unsafe.Add(v.data, row*16)
	n := *(*uint32)(p)
	if n == 0 {
		return ""
	}
	if n <= 12 {
		return unsafe.String((*byte)(unsafe.Add(p, 4)), int(n))
	}
	return unsafe.String(*(**byte)(unsafe.Add(p, 8)), int(n))
}

type huge struct {
	lower uint64
	upper int64
}

func (h huge) big() *big.Int {
	out := new(big.Int).Lsh(big.NewInt(h.upper), 64)
	return out.Add(out, new(big.Int).SetUint64(h.lower))
}

// fits tells whether h is an int64.
func (h huge) fits() bool {
	return h.upper == 0 && h.lower <= math.MaxInt64 || h.upper == -1 && h.lower > math.MaxInt64
}

// put appends the value of a row. Integers that no int64 holds are put as text, decimals always.
func (v *vector) put(b []byte, row int) []byte {
	if v.null(row) {
		return append(b, tagNull)
	}
	switch v.column.id {
	case bind.TypeBoolean:
		return putBool(b, at[bool](v, row))
	case bind.TypeTinyInt:
		return putInt(b, int64(at[int8](v, row)))
	case bind.TypeSmallInt:
		return putInt(b, int64(at[int16](v, row)))
	case bind.TypeInteger:
		return putInt(b, int64(at[int32](v, row)))
	case bind.TypeBigInt:
		return putInt(b, at[int64](v, row))
	case bind.TypeUTinyInt:
		return putInt(b, int64(at[uint8](v, row)))
	case bind.TypeUSmallInt:
		return putInt(b, int64(at[uint16](v, row)))
	case bind.TypeUInteger:
		return putInt(b, int64(at[uint32](v, row)))
	case bind.TypeUBigInt:
		if u := at[uint64](v, row); u > math.MaxInt64 {
			return putString(b, tagString, strconv.FormatUint(u, 10))
		}
		return putInt(b, at[int64](v, row))
	case bind.TypeHugeInt:
		if h := at[huge](v, row); !h.fits() {
			return putString(b, tagString, h.big().String())
		}
		return putInt(b, int64(at[huge](v, row).lower))
	case bind.TypeUHugeInt:
		h := at[huge](v, row)
		if h.upper == 0 && h.fits() {
			return putInt(b, int64(h.lower))
		}
		n := new(big.Int).Lsh(new(big.Int).SetUint64(uint64(h.upper)), 64)
		return putString(b, tagString, n.Add(n, new(big.Int).SetUint64(h.lower)).String())
	case bind.TypeFloat:
		return putFloat(b, float64(at[float32](v, row)))
	case bind.TypeDouble:
		return putFloat(b, at[float64](v, row))
	case bind.TypeVarchar:
		return putString(b, tagString, v.text(row))
	case bind.TypeBlob:
		return putString(b, tagBytes, v.text(row))
	case bind.TypeDecimal:
		return putString(b, tagString, v.decimal(row))
	case bind.TypeEnum:
		return putString(b, tagString, v.enum(row))
	case bind.TypeUUID:
		return putString(b, tagString, uuidText(at[huge](v, row)))
	case bind.TypeSQLNull:
		return append(b, tagNull)
	case bind.TypeList, bind.TypeArray, bind.TypeStruct, bind.TypeMap:
		return v.putNested(b, row)
	}
	return v.putTime(b, row)
}

func (v *vector) putNested(b []byte, row int) []byte {
	c := v.column
	if c.id == bind.TypeStruct {
		b = binary.AppendUvarint(append(b, tagMap), uint64(len(c.fields)))
		for i, f := range c.fields {
			b = append(binary.AppendUvarint(b, uint64(len(f))), f...)
			b = v.children[i].put(b, row)
		}
		return b
	}
	offset, n := row*c.size, c.size
	if c.id != bind.TypeArray {
		entry := at[[2]uint64](v, row)
		offset, n = int(entry[0]), int(entry[1])
	}
	if c.id == bind.TypeMap {
		b = binary.AppendUvarint(append(b, tagMap), uint64(n))
		for i := range n {
			key := v.children[0].keyText(offset + i)
			b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
			b = v.children[1].put(b, offset+i)
		}
		return b
	}
	b = binary.AppendUvarint(append(b, tagList), uint64(n))
	for i := range n {
		b = v.children[0].put(b, offset+i)
	}
	return b
}

// keyText writes a map's key as text, whatever its type.
func (v *vector) keyText(row int) string {
	if v.column.id == bind.TypeVarchar && !v.null(row) {
		return v.text(row)
	}
	d := decoder{b: v.put(nil, row)}
	value, err := d.value()
	if err != nil || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

func (v *vector) decimal(row int) string {
	var digits string
	switch v.column.internal {
	case bind.TypeSmallInt:
		digits = strconv.FormatInt(int64(at[int16](v, row)), 10)
	case bind.TypeInteger:
		digits = strconv.FormatInt(int64(at[int32](v, row)), 10)
	case bind.TypeBigInt:
		digits = strconv.FormatInt(at[int64](v, row), 10)
	default:
		digits = at[huge](v, row).big().String()
	}
	if v.column.scale == 0 {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for len(digits) <= v.column.scale {
		digits = "0" + digits
	}
	point := len(digits) - v.column.scale
	return sign + digits[:point] + "." + digits[point:]
}

func (v *vector) enum(row int) string {
	var i int
	switch v.column.internal {
	case bind.TypeUTinyInt:
		i = int(at[uint8](v, row))
	case bind.TypeUSmallInt:
		i = int(at[uint16](v, row))
	default:
		i = int(at[uint32](v, row))
	}
	if i >= len(v.column.enum) {
		return ""
	}
	return v.column.enum[i]
}

// uuidText writes a UUID, which DuckDB stores with its highest bit flipped so that it sorts.
func uuidText(h huge) string {
	upper := uint64(h.upper) ^ 1<<63
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", upper>>32, upper>>16&0xffff, upper&0xffff, h.lower>>48, h.lower&(1<<48-1))
}
