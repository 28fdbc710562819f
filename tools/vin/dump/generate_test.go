package dump_test

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// table writes one COPY block; a tilde in a row stands for a tab.
func table(name, columns string, rows ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "COPY vpic.%s (%s) FROM stdin;\n", name, columns)
	for _, r := range rows {
		b.WriteString(strings.ReplaceAll(r, "~", "\t") + "\n")
	}
	b.WriteString("\\.\n\n")
	return b.String()
}

// small is a whole list in little: a trailer with its body, connection, length and axles, and a truck with a sheet of facts.
func small() string {
	return "--\n-- PostgreSQL database dump\n--\n\nCREATE TABLE vpic.abs (\n    id integer NOT NULL\n);\n\n" +
		table("bodystyle", "id, name, createdon", `61~Trailer~\N`, `66~Truck-Tractor~\N`) +
		table("conversion", "id, fromelementid, toelementid, formula", "3~11~13~#x# / 1000.", "4~13~11~#x# * 1000") +
		table("defaultvalue", "id, elementid, vehicletypeid, defaultvalue, createdon, updatedon", `1~116~3~0~2019-12-21 20:26:30.583~\N`, `2~15~6~0~2019-12-21 20:26:30.583~\N`) +
		table("drivetype", "id, name", "9~6x4") +
		table("element", "id, name, code, lookuptable, description, isprivate, groupname, datatype, minallowedvalue, maxallowedvalue, isqs, decode, weight",
			`5~Body Class~BodyClass~BodyStyle~<p>x\ty</p>~f~Exterior/Body~lookup~\N~\N~\N~Pattern~99`,
			`11~Displacement (CC)~DisplacementCC~\N~\N~f~Engine~decimal~\N~\N~\N~Pattern~98`,
			`13~Displacement (L)~DisplacementL~\N~\N~f~Engine~decimal~\N~\N~\N~Pattern~\N`,
			`15~Drive Type~DriveType~DriveType~\N~f~Mechanical~lookup~\N~\N~\N~Pattern~\N`,
			`26~Make~Make~Make~\N~f~General~lookup~\N~\N~\N~WMI, Pattern~99`,
			`27~Manufacturer Name~Manufacturer~Manufacturer~\N~f~General~lookup~\N~\N~\N~WMI~\N`,
			`28~Model~Model~Model~\N~f~General~lookup~\N~\N~\N~Pattern~99`,
			`29~Model Year~ModelYear~\N~\N~f~General~int~\N~\N~\N~WMI, Input~99`,
			`31~Plant City~PlantCity~\N~\N~f~General~string~\N~\N~\N~Pattern~98`,
			`39~Vehicle Type~VehicleType~VehicleType~\N~f~General~lookup~\N~\N~\N~WMI~99`,
			`41~Axles~Axles~\N~\N~f~Mechanical~int~\N~\N~\N~Pattern~15`,
			`96~NCSA Body Type~NCSABodyType~vNCSABodyType~\N~t~Internal~lookup~\N~\N~\N~Pattern~\N`,
			`116~Trailer Type Connection~TrailerType~TrailerType~\N~f~Exterior/Trailer~lookup~\N~\N~\N~Pattern~\N`,
			`117~Trailer Body Type~TrailerBodyType~TrailerBodyType~\N~f~Exterior/Trailer~lookup~\N~\N~\N~Pattern~\N`,
			`118~Trailer Length (feet)~TrailerLength~\N~\N~f~Exterior/Trailer~decimal~\N~\N~\N~Pattern~\N`) +
		table("errorcode", "id, name, additionalerrortext, weight", `0~0 - VIN decoded clean~\N~0`) +
		table("make", "id, name, createdon, updatedon", `1~Wabash Vans~\N~\N`, `2~Peterbilt~\N~\N`) +
		table("make_model", "id, makeid, modelid, createdon, updatedon", `1~1~10~\N~\N`, `2~2~20~\N~\N`) +
		table("manufacturer", "id, name", "7~Wabash National Corporation", "8~Österreichische \\\\ Anhänger") +
		table("model", "id, name, createdon, updatedon", `10~Dry Van~\N~\N`, `20~389~\N~\N`) +
		table("pattern", "id, vinschemaid, keys, elementid, attributeid, createdon, updatedon",
			`1~100~V532D~28~10~2018-01-01 00:00:00~\N`,
			`2~100~V~5~61~2018-01-01 00:00:00~2019-05-05 10:11:12.345`,
			`3~100~*53~118~53~2018-01-01 00:00:00~\N`,
			`4~100~***2~41~2~2018-01-01 00:00:00~\N`,
			`5~100~****D~117~4~2018-01-01 00:00:00~\N`,
			`6~100~v~116~4~2018-01-01 00:00:00~\N`,
			`7~100~*****|*[LM]~31~LAFAYETTE~2018-01-01 00:00:00~\N`,
			`8~100~V~96~5~2018-01-01 00:00:00~\N`,
			`9~200~X~28~20~2018-01-01 00:00:00~\N`,
			`10~200~*D~5~66~2018-01-01 00:00:00~\N`,
			`11~200~**4~13~14.9~2018-01-01 00:00:00~\N`,
			`12~200~***9X~31~DENTON~2018-01-01 00:00:00~\N`,
			`13~300~X~31~NOT CHECKED YET~2026-03-04 05:06:07~\N`) +
		table("trailerbodytype", "id, name", "4~Van") +
		table("trailertype", "id, name", "4~Straight Semi/Semi Trailer") +
		table("vehiclespecpattern", "id, vspecschemapatternid, iskey, elementid, attributeid, createdon, updatedon",
			`1~900~t~5~66~2018-01-01 00:00:00~\N`, `2~900~f~15~9~2018-01-01 00:00:00~\N`,
			`3~901~t~5~61~2018-01-01 00:00:00~\N`, `4~901~f~41~9~2018-01-01 00:00:00~\N`) +
		table("vehiclespecschema", "id, makeid, createdon, updatedon, vehicletypeid, sourcedate, tobeqced", `90~2~2018-01-01 00:00:00~\N~3~\N~\N`) +
		table("vehiclespecschema_model", "id, vehiclespecschemaid, modelid", "1~90~20") +
		table("vehiclespecschema_year", "id, vehiclespecschemaid, year", "1~90~2024") +
		table("vehicletype", "id, name, displayorder", `3~Truck~\N`, `6~Trailer~\N`) +
		table("vinexception", "id, vin, checkdigit, createdon, updatedon", `1~1XPXD49X0RD898767~t~\N~\N`) +
		table("vinschema", "id, name, sourcewmi, createdon, updatedon, tobeqced", `100~Wabash for 1JJ~1JJ~\N~\N~f`, `200~Peterbilt for 1XP~1XP~\N~\N~\N`, `300~Not checked~1XP~\N~\N~t`) +
		table("vspecschemapattern", "id, schemaid", "900~90", "901~90") +
		table("wmi", "id, wmi, manufacturerid, makeid, vehicletypeid, createdon, updatedon, countryid, publicavailabilitydate, trucktypeid, processedon, noncompliant, noncompliantsetbyovsc",
			`1~1JJ~7~\N~6~\N~\N~6~2015-01-01 00:00:00~\N~\N~\N~\N`, `2~1XP~8~\N~3~\N~\N~6~2015-01-01 00:00:00~2~\N~\N~\N`, `3~9ZZ~8~\N~3~\N~\N~6~\N~2~\N~\N~\N`) +
		table("wmi_make", "wmiid, makeid", "1~1", "2~2") +
		table("wmi_vinschema", "id, wmiid, vinschemaid, yearfrom, yearto, orgid", `1~1~100~2010~\N~\N`, `2~2~200~2024~\N~\N`, `3~2~300~2024~\N~\N`) +
		table("wmiyearvalidchars", "id, wmi, year, \"position\", \"char\"", "1~1JJ~2018~4~V") +
		"--\n-- PostgreSQL database dump complete\n--\n"
}

// zipped puts a dump into a zip as NHTSA does.
func zipped(t testing.TB, write func(io.Writer)) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "vPICList_lite_2026_06.plain.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create("vPICList_lite_2026_06.sql")
	if err != nil {
		t.Fatal(err)
	}
	b := bufio.NewWriterSize(w, 1<<20)
	write(b)
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// large writes a dump of about the size of NHTSA's: the small one with very many patterns, facts and cached characters.
func large(w io.Writer, bytes int) {
	head, tail, _ := strings.Cut(small(), "COPY vpic.trailerbodytype")
	io.WriteString(w, strings.TrimSuffix(strings.TrimRight(head, "\n"), "\\."))
	written := len(head)
	const manufacturers = 12_000
	for i := 0; written < bytes*32/100; i++ {
		n, _ := fmt.Fprintf(w, "%d\t%d\t%s\t%d\t%s\t2016-03-%02d 16:%02d:%02d.%03d\t\\N\n", 1000+i, 1000+i/60%24_000, key(i), []int{28, 5, 31, 41, 118, 13, 11}[i%7],
			[]string{"10", "61", "LAFAYETTE " + fmt.Sprint(i%5000), "2", "53", "14.9", fmt.Sprint(i % 9000)}[i%7], i%28+1, i/60%60, i%60, i%1000)
		written += n
	}
	io.WriteString(w, "\\.\n\nCOPY vpic.trailerbodytype")
	body, _, _ := strings.Cut(tail, "COPY vpic.wmiyearvalidchars")
	before, after, _ := strings.Cut(body, "COPY vpic.vinschema (")
	io.WriteString(w, before+"COPY vpic.vinschema (")
	columns, rows, _ := strings.Cut(after, "\n")
	io.WriteString(w, columns+"\n")
	for i := range 24_000 {
		fmt.Fprintf(w, "%d\tA schema for some manufacturer %d (MY2015- \t\\N\t\\N\t\\N\t\\N\n", 1000+i, i)
	}
	rows, links, _ := strings.Cut(rows, "COPY vpic.wmi_vinschema (")
	io.WriteString(w, rows+"COPY vpic.wmi_vinschema (")
	columns, links, _ = strings.Cut(links, "\n")
	io.WriteString(w, columns+"\n")
	for i := range 24_000 {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t\\N\t\\N\n", 1000+i, 1000+i%manufacturers, 1000+i, 1981+i%45)
	}
	io.WriteString(w, links)
	io.WriteString(w, "COPY vpic.wmi (id, wmi, manufacturerid, vehicletypeid, publicavailabilitydate) FROM stdin;\n")
	for i := range manufacturers {
		fmt.Fprintf(w, "%d\t%c%c%c\t7\t6\t2015-01-01 00:00:00\n", 1000+i, "2345678"[i%7], "ABCDEFGHJKLMNPRSTUVWXYZ012345678"[i/7%32], "ABCDEFGHJKLMNPRSTUVWXYZ012345678"[i/224%32])
	}
	io.WriteString(w, "\\.\n\nCOPY vpic.wmiyearvalidchars (id, wmi, year, \"position\", \"char\") FROM stdin;\n")
	for i := 0; written < bytes; i++ {
		n, _ := fmt.Fprintf(w, "%d\t1JJ\t%d\t%d\t%c\n", i, 1981+i%45, 4+i%11, "0123456789ABCDEFGHJKLMNPRSTUVWXYZ"[i%33])
		written += n
	}
	io.WriteString(w, "\\.\n\n--\n-- PostgreSQL database dump complete\n--\n")
}

// key makes one of 75,000 keys.
func key(i int) string {
	const c = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
	i = i * 7919 % 75_000
	return fmt.Sprintf("%c%c*%c|*%c", c[i%33], c[i/33%33], c[i/1089%33], c[i/35937%3])
}
