package mcpserver

import (
	"context"

	"bordereau/tools/vin"
)

type vinsAnswer struct {
	DataDate string        `json:"data_date"`
	Results  []vin.Checked `json:"results"`
}

func (s *Server) decodeVINs(_ context.Context, a asked) (any, error) {
	var ask struct {
		VINs []vin.Row `json:"vins"`
	}
	if err := decode(a, &ask); err != nil {
		return nil, err
	}
	return vinsAnswer{DataDate: s.c.VINs.DataDate(), Results: s.c.VINs.Check(ask.VINs)}, nil
}
