// Package vinhttp serves VIN decodes over HTTP in the shape of NHTSA's own service, so that its clients can be pointed here.
package vinhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"bordereau/tools/vin"
)

const (
	// MaxRows is how many VINs one call may hold.
	MaxRows = 5000
	maxBody = 4 << 20
)

// Config holds what the endpoints need. Whoever mounts them decides who may call.
type Config struct {
	Decoder Decoder
}

// Handler serves
//
//	GET  /vin/{vin}?modelyear=Y                 one VIN
//	POST /vin/DecodeVINValuesBatch/             form field data=VIN[,YEAR];VIN[,YEAR];…, as NHTSA takes it
//	POST /vin/check                             {"vins":[{"vin","year","make","model","body_type","gvw","ref"}]}: decode and comparison
func Handler(c Config) (http.Handler, error) {
	if c.Decoder == nil {
		return nil, errors.New("vinhttp: the endpoints need a decoder")
	}
	h := &handler{c.Decoder}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /vin/{vin}", h.one)
	mux.HandleFunc("POST /vin/DecodeVINValuesBatch/", h.batch)
	mux.HandleFunc("POST /vin/check", h.check)
	return mux, nil
}

type handler struct{ d Decoder }

// envelope is how NHTSA wraps its answers.
type envelope struct {
	Count          int          `json:"Count"`
	Message        string       `json:"Message"`
	SearchCriteria string       `json:"SearchCriteria"`
	Results        []vin.Result `json:"Results"`
}

const message = "Results returned successfully. Decoded from NHTSA's data without NHTSA's service; NHTSA endorses neither."

func (h *handler) one(w http.ResponseWriter, r *http.Request) {
	year, err := optionalYear(r.URL.Query().Get("modelyear"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid", err.Error(), "modelyear is a year such as 2024, or is left out")
		return
	}
	result := h.d.Decode(r.PathValue("vin"), vin.Hint{Year: year})
	answer(w, envelope{Count: 1, Message: message, SearchCriteria: "VIN:" + result.VIN, Results: []vin.Result{result}})
}

func (h *handler) batch(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		refuseBody(w, err)
		return
	}
	out := envelope{Message: message, Results: []vin.Result{}}
	for part := range strings.SplitSeq(r.PostForm.Get("data"), ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		if len(out.Results) == MaxRows {
			refuse(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("more than %d VINs in a call", MaxRows), "send them in several calls")
			return
		}
		text, stated, _ := strings.Cut(part, ",")
		year, err := optionalYear(strings.TrimSpace(stated))
		if err != nil {
			refuse(w, http.StatusBadRequest, "invalid", fmt.Sprintf("VIN %d: %v", len(out.Results)+1, err), "data is VIN[,YEAR];VIN[,YEAR];…")
			return
		}
		out.Results = append(out.Results, h.d.Decode(text, vin.Hint{Year: year}))
	}
	if len(out.Results) == 0 {
		refuse(w, http.StatusBadRequest, "invalid", "there is no VIN", "the form field data is VIN[,YEAR];VIN[,YEAR];…")
		return
	}
	out.Count = len(out.Results)
	answer(w, out)
}

// checked is the answer to a check.
type checked struct {
	DataDate string        `json:"data_date"`
	Results  []vin.Checked `json:"results"`
}

func (h *handler) check(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		VINs []vin.Row `json:"vins"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&ask); err != nil {
		refuseBody(w, err)
		return
	}
	switch {
	case len(ask.VINs) == 0:
		refuse(w, http.StatusBadRequest, "invalid", "there is no VIN", "vins is a list of {vin, year, make, model, body_type, gvw, ref}")
	case len(ask.VINs) > MaxRows:
		refuse(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("more than %d VINs in a call", MaxRows), "send them in several calls")
	default:
		answer(w, checked{DataDate: h.d.DataDate(), Results: h.d.Check(ask.VINs)})
	}
}

func optionalYear(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 9999 {
		return 0, fmt.Errorf("%.20q is no year", s)
	}
	return n, nil
}

func answer(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "unavailable", "the answer can't be written", "")
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(b)
}

func refuseBody(w http.ResponseWriter, err error) {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		refuse(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", maxBody), "send fewer VINs in a call")
		return
	}
	refuse(w, http.StatusBadRequest, "invalid", "the body can't be read: "+err.Error(), "")
}

// refuse answers with a typed error.
func refuse(w http.ResponseWriter, status int, code, message, hint string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "component": "vin", "message": message, "hint": hint, "retryable": false})
}
