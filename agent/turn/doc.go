// Package turn runs one turn after another: it claims them from the journal, asks the model, runs the tools, and tells the events.
package turn
