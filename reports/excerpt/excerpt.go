// Package excerpt cuts the places of evidence out of PDF documents as pictures for a report.
package excerpt

import (
	"context"
	"errors"
	"fmt"
	"image"
	"time"
)

// What a picture may take. A document beyond it is told, not drawn.
const (
	pageWidth    = 1000 // pixels of a page's width
	maxHeight    = 4000 // pixels of its height
	maxBytes     = 64 << 20
	memoryPages  = 8192 // of 64 KiB: 512 MiB
	drawingLimit = 20 * time.Second
	maxDrawn     = 8 // pages that wait for another place to be cut out of them
)

// ErrNone is wrapped where there is no picture. The error's text is a sentence for the reader of the report.
var ErrNone = errors.New("no picture")

// none is a reason to print in place of a picture.
type none string

func (n none) Error() string      { return string(n) }
func (none) Is(target error) bool { return target == ErrNone }

// Opener reads a document by its id. The text of its error is printed in place of the picture.
type Opener func(ctx context.Context, document string) ([]byte, error)

// Cutter cuts the pictures of one report, one at a time.
type Cutter struct {
	open  Opener
	drawn map[string]drawing
	paint *painter
	cache *Cache
}

// drawing is a page or why there is none. Findings of one page come together, so a few are kept.
type drawing struct {
	page image.Image
	err  error
}

// New returns a cutter over the documents that open reads. Close ends its use.
func New(cache *Cache, open Opener) (*Cutter, error) {
	if cache == nil || open == nil {
		return nil, errors.New("excerpt: a cache and an opener of documents are needed")
	}
	return &Cutter{cache: cache, open: open, drawn: map[string]drawing{}}, nil
}

// Close gives back what the cutter holds.
func (c *Cutter) Close() error {
	if c.paint == nil {
		return nil
	}
	return c.paint.close()
}

// Cut returns as PNG the strip of a page around a box (x0, y0, x1, y1; 0 to 1 from the top left), the box outlined.
func (c *Cutter) Cut(ctx context.Context, document string, page int, box [4]float64) ([]byte, error) {
	placed := box[0] >= 0 && box[1] >= 0 && box[0] < box[2] && box[1] < box[3] && box[2] <= 1 && box[3] <= 1 && page >= 1
	if !placed { // also for what is no number
		return nil, none("The extraction names no place on a page.")
	}
	key := fmt.Sprintf("%s %d", document, page)
	d, known := c.drawn[key]
	if !known {
		if len(c.drawn) == maxDrawn {
			clear(c.drawn)
		}
		d.page, d.err = c.draw(ctx, document, page)
		c.drawn[key] = d
	}
	if d.err != nil {
		return nil, d.err
	}
	return strip(d.page, box)
}

func (c *Cutter) draw(ctx context.Context, document string, page int) (image.Image, error) {
	raw, err := c.open(ctx, document)
	if err != nil {
		return nil, none(err.Error())
	}
	if len(raw) > maxBytes {
		return nil, none(fmt.Sprintf("The document has more than %d MiB.", maxBytes>>20))
	}
	if c.paint == nil {
		if c.paint, err = c.cache.painter(ctx); err != nil {
			return nil, err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, drawingLimit)
	defer cancel()
	return c.paint.page(bounded, raw, page)
}
