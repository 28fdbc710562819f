package vin_test

import (
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"bordereau/tools/vin"
	"bordereau/tools/vin/vpic"
)

// uniqueVINs makes different VINs out of the known answers by giving each a new serial number and its check digit.
func uniqueVINs(b testing.TB, n int, trucksOnly bool) []string {
	var seeds []string
	for _, a := range answers(b) {
		if len(a.VIN) == 17 && (!trucksOnly || a.Class == "truck" || a.Class == "trailer") {
			seeds = append(seeds, a.VIN)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	var out []string
	for len(out) < n {
		v := []byte(seeds[rng.IntN(len(seeds))])
		for i := 13; i < 17; i++ {
			v[i] = byte('0' + rng.IntN(10))
		}
		v[11] = "0123456789ABCDEFGH"[rng.IntN(18)]
		if c := vin.CheckDigit(string(v)); c != 0 {
			v[8] = c
		}
		if !seen[string(v)] {
			seen[string(v)] = true
			out = append(out, string(v))
		}
	}
	return out
}

// cpu is the processor time that the process has used: what a core takes, however busy the machine is.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchmarkDecode(b *testing.B, trucksOnly bool) {
	d := decoder(b)
	vins := uniqueVINs(b, 20_000, trucksOnly)
	for _, v := range vins[:2000] {
		d.Decode(v, vin.Hint{})
	}
	b.ReportAllocs()
	b.ResetTimer()
	start := cpu()
	for i := range b.N {
		d.Decode(vins[i%len(vins)], vin.Hint{})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "vins/s")
	b.ReportMetric(float64(b.N)/(cpu()-start).Seconds(), "vins/s-of-cpu")
}

// BenchmarkDecode decodes different VINs of all kinds on one core.
func BenchmarkDecode(b *testing.B) { benchmarkDecode(b, false) }

// BenchmarkDecodeTrucks decodes trucks and trailers, which take a pass for each of two years.
func BenchmarkDecodeTrucks(b *testing.B) { benchmarkDecode(b, true) }

// BenchmarkDecodeJSON decodes and writes NHTSA's flat object.
func BenchmarkDecodeJSON(b *testing.B) {
	d := decoder(b)
	vins := uniqueVINs(b, 5000, true)
	b.ReportAllocs()
	for i := range b.N {
		r := d.Decode(vins[i%len(vins)], vin.Hint{})
		if _, err := r.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "vins/s")
}

// BenchmarkCheck checks a schedule of 1,000 rows.
func BenchmarkCheck(b *testing.B) {
	d := decoder(b)
	rows := make([]vin.Row, 1000)
	for i, v := range uniqueVINs(b, len(rows), true) {
		rows[i] = vin.Row{Ref: v, VIN: v, Year: 2020, Make: "Freightliner", Model: "Cascadia", BodyType: "Tractor", GVW: 80000}
	}
	b.ResetTimer()
	start := cpu()
	for range b.N {
		d.Check(rows)
	}
	b.ReportMetric(float64(b.N*len(rows))/(cpu()-start).Seconds(), "rows/s-of-cpu")
	b.ReportMetric(float64(b.N*len(rows))/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkLoad reads the embedded data set and reports the heap that it keeps.
func BenchmarkLoad(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var d *vin.Decoder
	start := cpu()
	for range b.N {
		var err error
		if d, err = vin.Load(); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	used := cpu() - start
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "heap-MB")
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "load-ms")
	b.ReportMetric(float64(vpic.EmbeddedBytes()), "file-bytes")
	runtime.KeepAlive(d)
}

// BenchmarkDecodeSlowest decodes one VIN of every manufacturer without a year, so that every scheme it ever had is compared, and reports the
// slowest of them, each at its best of three.
func BenchmarkDecodeSlowest(b *testing.B) {
	data, err := shared()
	if err != nil {
		b.Fatal(err)
	}
	d := decoder(b)
	for range b.N {
		slowest := time.Duration(0)
		for i := range data.WMIs {
			w := data.WMIs[i].Code
			v := w[:3] + "A123450A123456"
			if len(w) == 6 {
				v = w[:3] + "A123450A" + w[3:] + "567"
			}
			best := time.Hour
			for range 3 {
				start := time.Now()
				d.Decode(v, vin.Hint{Year: 1991})
				best = min(best, time.Since(start))
			}
			slowest = max(slowest, best)
		}
		b.ReportMetric(float64(slowest.Microseconds()), "slowest-µs")
	}
}
