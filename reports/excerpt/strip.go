package excerpt

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
)

// around is the height of page shown above and below the box, of the page's width, so that a strip looks the same on every page.
const around = 0.04

// strip cuts the page's whole width at the height of the box, and outlines the box.
func strip(page image.Image, box [4]float64) ([]byte, error) {
	b := page.Bounds()
	at := image.Rect(
		int(math.Floor(box[0]*float64(b.Dx()))), int(math.Floor(box[1]*float64(b.Dy()))),
		int(math.Ceil(box[2]*float64(b.Dx()))), int(math.Ceil(box[3]*float64(b.Dy()))),
	).Inset(-3)
	margin := int(around * float64(b.Dx()))
	cut := image.Rect(0, at.Min.Y-margin, b.Dx(), at.Max.Y+margin).Intersect(image.Rect(0, 0, b.Dx(), b.Dy()))
	out := image.NewRGBA(image.Rect(0, 0, cut.Dx(), cut.Dy()))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), page, b.Min.Add(cut.Min), draw.Over)
	outline(out, at.Sub(cut.Min))
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, out); err != nil {
		return nil, fmt.Errorf("excerpt: %w", err)
	}
	return encoded.Bytes(), nil
}

// outline draws a red frame, two pixels wide.
func outline(on *image.RGBA, r image.Rectangle) {
	red := image.NewUniform(color.RGBA{200, 30, 30, 255})
	for _, side := range []image.Rectangle{
		{r.Min, image.Pt(r.Max.X, r.Min.Y+2)},
		{image.Pt(r.Min.X, r.Max.Y-2), r.Max},
		{r.Min, image.Pt(r.Min.X+2, r.Max.Y)},
		{image.Pt(r.Max.X-2, r.Min.Y), r.Max},
	} {
		draw.Draw(on, side, red, image.Point{}, draw.Src)
	}
}
