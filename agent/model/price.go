package model

// Price is what a provider takes, in millionths of a US dollar for a million tokens: 3 dollars a million are 3,000,000.
type Price struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}

// Of returns what u costs, rounded up.
func (p Price) Of(u Usage) int64 {
	sum := u.Input*p.Input + u.Output*p.Output + u.CacheRead*p.CacheRead + u.CacheWrite*p.CacheWrite
	return (sum + 999_999) / 1_000_000
}

// Flat returns messages with calls and results told as text. Providers refuse calls in the history of a request that offers
// no tools.
func Flat(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for _, m := range messages {
		flat := Message{Role: m.Role}
		for _, b := range m.Blocks {
			switch b.Kind {
			case ToolUse:
				b = Block{Kind: Text, Text: "[called " + b.Name + " with " + string(b.Input) + "]"}
			case ToolResult:
				b = Block{Kind: Text, Text: "[result of " + b.Name + "]\n" + b.Text}
			case Reasoning:
				continue
			}
			flat.Blocks = append(flat.Blocks, b)
		}
		if len(flat.Blocks) > 0 {
			out = append(out, flat)
		}
	}
	return out
}
