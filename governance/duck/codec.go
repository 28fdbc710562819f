package duck

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// The tags of encoded values. A row is its values one after another; a batch is rows one after another.
const (
	tagNull byte = iota
	tagFalse
	tagTrue
	tagInt    // zigzag varint
	tagFloat  // 8 bytes
	tagString // length, bytes
	tagBytes  // length, bytes
	tagTime   // zigzag seconds, nanoseconds
	tagList   // count, values
	tagMap    // count, key and value each
)

var errCodec = errors.New("duck: bad row encoding")

func putString(b []byte, tag byte, s string) []byte {
	b = append(b, tag)
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func putInt(b []byte, v int64) []byte { return binary.AppendVarint(append(b, tagInt), v) }

func putFloat(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, tagFloat), math.Float64bits(v))
}

func putTime(b []byte, sec, nanos int64) []byte {
	return binary.AppendUvarint(binary.AppendVarint(append(b, tagTime), sec), uint64(nanos))
}

func putBool(b []byte, v bool) []byte {
	if v {
		return append(b, tagTrue)
	}
	return append(b, tagFalse)
}

// decoder reads values from a batch. It believes nothing about lengths.
type decoder struct{ b []byte }

func (d *decoder) uvarint() (uint64, error) {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		return 0, errCodec
	}
	d.b = d.b[n:]
	return v, nil
}

func (d *decoder) varint() (int64, error) {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		return 0, errCodec
	}
	d.b = d.b[n:]
	return v, nil
}

func (d *decoder) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.b)) {
		return nil, errCodec
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out, nil
}

func (d *decoder) bytes() ([]byte, error) {
	n, err := d.uvarint()
	if err != nil {
		return nil, err
	}
	return d.take(n)
}

func (d *decoder) value() (any, error) {
	t, err := d.take(1)
	if err != nil {
		return nil, err
	}
	switch t[0] {
	case tagNull:
		return nil, nil
	case tagFalse, tagTrue:
		return t[0] == tagTrue, nil
	case tagInt:
		return d.varint()
	case tagFloat:
		b, err := d.take(8)
		if err != nil {
			return nil, err
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	case tagString:
		b, err := d.bytes()
		return string(b), err
	case tagBytes:
		b, err := d.bytes()
		return append([]byte{}, b...), err
	case tagTime:
		sec, err := d.varint()
		if err != nil {
			return nil, err
		}
		nanos, err := d.uvarint()
		return time.Unix(sec, int64(nanos)).UTC(), err
	case tagList:
		return d.list()
	case tagMap:
		return d.mapping()
	}
	return nil, errCodec
}

func (d *decoder) list() (any, error) {
	n, err := d.uvarint()
	if err != nil || n > uint64(len(d.b)) {
		return nil, errCodec
	}
	out := make([]any, n)
	for i := range out {
		if out[i], err = d.value(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *decoder) mapping() (any, error) {
	n, err := d.uvarint()
	if err != nil || n > uint64(len(d.b)) {
		return nil, errCodec
	}
	out := make(map[string]any, n)
	for range n {
		k, err := d.bytes()
		if err != nil {
			return nil, err
		}
		if out[string(k)], err = d.value(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
