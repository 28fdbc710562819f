package main

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// draw shows the distributions of what is recovered, with the figure to reach as a line in each.
func draw(file string, figures []figure) error {
	p := plot.New()
	p.Title.Text = "Sandboxes: how long until the first verified result"
	p.X.Label.Text = "milliseconds"
	p.Y.Label.Text = "share of runs that were done by then"
	p.Y.Min, p.Y.Max, p.X.Min = 0, 1, 0
	p.Legend.Top, p.Legend.Left = false, false
	p.Add(plotter.NewGrid())
	palette := []color.Color{
		color.RGBA{0x1b, 0x6c, 0xa8, 255}, color.RGBA{0xd9, 0x5f, 0x02, 255}, color.RGBA{0x2a, 0x9d, 0x6f, 255}, color.RGBA{0x8e, 0x44, 0xad, 255}, color.RGBA{0x7f, 0x7f, 0x7f, 255},
	}
	n := 0
	var slowest float64
	for _, f := range figures {
		if len(f.Times) == 0 || strings.Contains(f.Name, "at once") || strings.HasPrefix(f.Name, "peer: ") {
			continue
		}
		points := make(plotter.XYs, 0, 101)
		for q := range 101 {
			points = append(points, plotter.XY{X: float64(f.at(float64(q)/100)) / float64(time.Millisecond), Y: float64(q) / 100})
		}
		slowest = max(slowest, points[len(points)-1].X)
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = palette[n%len(palette)], vg.Points(1.6)
		if n >= len(palette) {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		p.Add(line)
		p.Legend.Add(fmt.Sprintf("%s: p50 %s, n=%d", f.Name, ms(f.at(.5)), len(f.Times)), line)
		n++
	}
	p.X.Max = 2.2 * slowest // the right half is the legend's
	return p.Save(26*vg.Centimeter, 14*vg.Centimeter, file)
}
