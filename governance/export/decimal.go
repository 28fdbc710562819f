package export

import (
	"fmt"
	"math/big"
	"strings"
)

// decimal is a value of a decimal or of a huge integer, without its point.
func (t Type) decimal(v any) (*big.Int, error) {
	var n *big.Int
	switch v := v.(type) {
	case int64:
		n = big.NewInt(v)
	case string:
		whole, fraction, _ := strings.Cut(v, ".")
		parsed, ok := new(big.Int).SetString(whole+fraction, 10)
		if !ok || len(fraction) != t.scale {
			return nil, fmt.Errorf("%w: not a decimal of scale %d", ErrValue, t.scale)
		}
		n = parsed
	default:
		return nil, fmt.Errorf("%w: %T", ErrValue, v)
	}
	if n.CmpAbs(limit38()) >= 0 {
		return nil, fmt.Errorf("%w: more than 38 digits", ErrValue)
	}
	return n, nil
}

// limit38 is the first integer that a decimal of 38 digits can't hold, the most that Parquet and Arrow have here.
func limit38() *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil) }
