package vinhttp

import "bordereau/tools/vin"

// Decoder decodes VINs.
type Decoder interface {
	Decode(text string, hint vin.Hint) vin.Result
	Check(rows []vin.Row) []vin.Checked
	DataDate() string
}
