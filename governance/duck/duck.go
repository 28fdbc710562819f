// Package duck runs one read-only statement in a bounded, killable worker process.
package duck
