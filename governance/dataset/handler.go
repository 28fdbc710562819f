package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"

	"bordereau/governance/dataset/record"
	"bordereau/governance/fault"
)

// HandlerConfig is what the import endpoint needs.
type HandlerConfig struct {
	Store *Store
	// Authorise says for which organisation the request may import. Its error is what the caller gets.
	Authorise func(*http.Request) (org string, err error)
	MaxBytes  int64  // of a request's body
	Dir       string // where bodies wait until they are imported
}

// NewHandler returns the endpoint that imports the body of a POST: NDJSON, CSV (?kind=fields), Parquet (?kind=fields), a workbook,
// or a zip of import.ndjson and the documents it names. It answers the ImportResult, or a refusal with its problems.
func NewHandler(cfg HandlerConfig) (http.Handler, error) {
	if cfg.Store == nil || cfg.Authorise == nil || cfg.MaxBytes <= 0 || cfg.Dir == "" {
		return nil, errors.New("dataset: handler: Store, Authorise, MaxBytes and Dir are required")
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("dataset: handler: %w", err)
	}
	return &handler{cfg}, nil
}

type handler struct{ cfg HandlerConfig }

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		h.refuse(w, r, &fault.Error{Code: fault.Invalid, Component: "import", Message: "only POST imports"})
		return
	}
	org, err := h.cfg.Authorise(r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	res, err := h.take(w, r, org)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.answer(w, r, http.StatusOK, res)
}

// extension tells by the content type how the body is to be called.
func extension(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	switch media {
	case "application/x-ndjson", "application/jsonl", "application/ndjson":
		return ".ndjson"
	case "text/csv":
		return ".csv"
	case "application/vnd.apache.parquet", "application/x-parquet":
		return ".parquet"
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return ".xlsx"
	case "application/zip":
		return ".zip"
	}
	return ""
}

func (h *handler) take(w http.ResponseWriter, r *http.Request, org string) (ImportResult, error) {
	ext := extension(r.Header.Get("Content-Type"))
	if ext == "" {
		return ImportResult{}, &fault.Error{
			Code: fault.Invalid, Component: "import", Message: "the content type tells no format that is imported",
			Hint: "use application/x-ndjson, text/csv, application/vnd.apache.parquet, the type of .xlsx, or application/zip",
		}
	}
	name := "body"
	if kind := r.URL.Query().Get("kind"); kind != "" {
		k, ok := record.KindOf(kind)
		if !ok {
			return ImportResult{}, &fault.Error{Code: fault.Invalid, Component: "import", Message: "kind is one of submissions, documents, rows, fields, edits"}
		}
		name = k.String() + "s"
	}
	work, err := os.MkdirTemp(h.cfg.Dir, "import-*")
	if err != nil {
		return ImportResult{}, h.cfg.Store.unavailable("the body can't be kept", err)
	}
	ctx := r.Context()
	defer func() {
		if err := os.RemoveAll(work); err != nil {
			h.cfg.Store.cfg.Logger.WarnContext(ctx, "left an upload behind", "error", err)
		}
	}()
	path := filepath.Join(work, name+ext)
	if err := h.spool(w, r, path); err != nil {
		return ImportResult{}, err
	}
	if ext == ".zip" {
		if path, err = unpack(path, filepath.Join(work, "unpacked"), h.cfg.MaxBytes); err != nil {
			return ImportResult{}, err
		}
	}
	format, err := FormatOf(path)
	if err != nil {
		return ImportResult{}, err
	}
	file := File{Path: path, Name: filepath.Base(path), Format: format}
	if ext == ".zip" {
		file.Documents = filepath.Dir(path)
	}
	return h.cfg.Store.Import(ctx, org, Source{Files: []File{file}})
}

func (h *handler) spool(w http.ResponseWriter, r *http.Request, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return h.cfg.Store.unavailable("the body can't be kept", err)
	}
	_, err = io.Copy(f, http.MaxBytesReader(w, r.Body, h.cfg.MaxBytes))
	closeErr := f.Close()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &fault.Error{Code: fault.TooLarge, Component: "import", Message: fmt.Sprintf("the body has more than %d bytes", h.cfg.MaxBytes), Hint: "import it in parts, or with the import command"}
	case err != nil:
		return (&fault.Error{Code: fault.Interrupted, Component: "import", Message: "the body ended early; nothing changed", Retryable: true}).Because(err)
	case closeErr != nil:
		return h.cfg.Store.unavailable("the body can't be kept", closeErr)
	}
	return nil
}

// refusal is the answer to an import that failed.
type refusal struct {
	*fault.Error
	Problems []record.Problem `json:"problems,omitempty"`
}

func (h *handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	out := refusal{Error: fault.Of(err, "import")}
	if refused, ok := errors.AsType[*ImportError](err); ok {
		out.Problems = refused.Problems
	}
	status := http.StatusInternalServerError
	switch out.Code {
	case fault.Auth:
		status = http.StatusUnauthorized
	case fault.Denied:
		status = http.StatusForbidden
	case fault.Invalid:
		status = http.StatusUnprocessableEntity
	case fault.NotFound:
		status = http.StatusNotFound
	case fault.RateLimited:
		status = http.StatusTooManyRequests
	case fault.TooLarge:
		status = http.StatusRequestEntityTooLarge
	case fault.Timeout:
		status = http.StatusGatewayTimeout
	case fault.Unavailable, fault.Interrupted:
		status = http.StatusServiceUnavailable
	}
	if status >= http.StatusInternalServerError {
		h.cfg.Store.cfg.Logger.ErrorContext(r.Context(), "import failed", "code", out.Code, "error", errors.Unwrap(out.Error))
	}
	h.answer(w, r, status, out)
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		h.cfg.Store.cfg.Logger.InfoContext(r.Context(), "the caller left before the answer", "error", err)
	}
}
