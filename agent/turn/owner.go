package turn

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A runner's name tells which process it is, so that after a crash the next one on the same host knows at once that its
// turns are free: "host|boot and namespace|pid|start of the process|random".

// processName names this process; every runner in it adds an id of its own.
func processName(id string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	pid := os.Getpid()
	return strings.Join([]string{strings.ReplaceAll(host, "|", "_"), machine(), strconv.Itoa(pid), startOf(pid), id}, "|")
}

// machine tells boots and process namespaces apart: within one, a pid and its start mean one process.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + space
}

// startOf is when a process started, in ticks since boot; "" when there is no such process.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in brackets and may hold blanks.
	_, rest, ok := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19]
}

// dead tells whether a runner's process was on this host and is gone for certain.
func dead(name string) bool {
	part := strings.Split(name, "|")
	here := machine()
	host, err := os.Hostname()
	if len(part) != 5 || here == "" || part[1] != here || err != nil || part[0] != strings.ReplaceAll(host, "|", "_") || part[3] == "" {
		return false
	}
	pid, err := strconv.Atoi(part[2])
	return err == nil && startOf(pid) != part[3]
}
