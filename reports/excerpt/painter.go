package excerpt

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"io"
	"math"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	failures "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Cache keeps PDFium compiled for this machine, which takes seconds to make. It is safe for concurrent use.
type Cache struct{ compiled wazero.CompilationCache }

// OpenCache returns the cache of a folder, which it makes if need be.
func OpenCache(folder string) (*Cache, error) {
	if folder == "" {
		return nil, errors.New("excerpt: the cache needs a folder")
	}
	compiled, err := wazero.NewCompilationCacheWithDir(folder)
	if err != nil {
		return nil, fmt.Errorf("excerpt: opening the cache: %w", err)
	}
	return &Cache{compiled}, nil
}

// Close gives back what the cache holds in memory.
func (c *Cache) Close(ctx context.Context) error { return c.compiled.Close(ctx) }

// painter draws pages with PDFium inside WebAssembly: whatever a hostile document makes of it sees that document and nothing else,
// neither files nor the clock nor chance. So the same document gives the same picture.
type painter struct{ pool pdfium.Pool }

func (c *Cache) painter(ctx context.Context) (*painter, error) {
	pool, err := webassembly.Init(webassembly.Config{
		Context: context.WithoutCancel(ctx), MaxIdle: 1, MaxTotal: 1, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard, RandomSource: zeros{},
		RuntimeConfig: wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
			WithCompilationCache(c.compiled).WithMemoryLimitPages(memoryPages).WithCloseOnContextDone(true),
	})
	if err != nil {
		return nil, fmt.Errorf("excerpt: starting PDFium: %w", err)
	}
	return &painter{pool}, nil
}

// zeros is what PDFium gets for chance.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func (p *painter) close() error { return p.pool.Close() }

// page draws one page. Each document has an instance of its own and meets nothing that another left.
func (p *painter) page(ctx context.Context, raw []byte, n int) (image.Image, error) {
	instance, err := p.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("excerpt: starting PDFium: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = instance.Kill() }) // a page that takes too long is left
	defer func() {
		if stop() {
			_ = instance.Close()
		}
	}()
	doc, err := instance.OpenDocument(&requests.OpenDocument{File: &raw})
	if err != nil {
		return nil, because(ctx, err)
	}
	count, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil {
		return nil, because(ctx, err)
	}
	if n > count.PageCount {
		return nil, none(fmt.Sprintf("The document has %d pages; the extraction names page %d.", count.PageCount, n))
	}
	at := requests.Page{ByIndex: &requests.PageByIndex{Document: doc.Document, Index: n - 1}}
	size, err := instance.GetPageSize(&requests.GetPageSize{Page: at})
	if err != nil {
		return nil, because(ctx, err)
	}
	height := math.Ceil(size.Height / size.Width * pageWidth)
	if !(height >= 1 && height <= maxHeight) { // also for what is no number
		return nil, none(fmt.Sprintf("Page %d is too long to draw.", n))
	}
	drawn, err := instance.RenderPageInPixels(&requests.RenderPageInPixels{
		Page: at, Width: pageWidth, Height: int(height), RenderFlags: enums.FPDF_RENDER_FLAG_ANNOT,
	})
	if err != nil {
		return nil, because(ctx, err)
	}
	page := drawn.Result.RenderedImage
	own := image.NewRGBA(page.Bounds())
	draw.Draw(own, own.Bounds(), page, page.Bounds().Min, draw.Src) // PDFium's memory goes with its instance
	drawn.Cleanup()
	return own, nil
}

// because says in a sentence why PDFium can't draw.
func because(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return none(fmt.Sprintf("Drawing the page took more than %s.", drawingLimit))
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, failures.ErrPassword), errors.Is(err, failures.ErrSecurity):
		return none("The document is encrypted and opens only with its password.")
	}
	return none("The document is damaged, or is no PDF.")
}
