package dump_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"bordereau/tools/vin/dump"
)

// listBytes is the size of NHTSA's dump of 2026.
const listBytes = 336 << 20

// BenchmarkImport imports a dump of the size of NHTSA's and reports the most memory that the process held, program included.
func BenchmarkImport(b *testing.B) {
	name := zipped(b, func(w io.Writer) { large(w, listBytes) })
	debug.FreeOSMemory()
	resetPeak()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(dump.MemoryLimit))
	b.ResetTimer()
	for range b.N {
		target := filepath.Join(b.TempDir(), "vpic.bin")
		set, err := dump.Install{Zip: name, Target: target}.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(set.Rows.Element)), "rows")
		if info, err := os.Stat(target); err == nil {
			b.ReportMetric(float64(info.Size()), "file-bytes")
		}
	}
	b.ReportMetric(peakMB(), "peak-MB")
}

// resetPeak makes the kernel forget the highest memory so far, which was the generator's.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

func peakMB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
	return kb / 1024
}
