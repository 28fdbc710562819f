package duck

import (
	"errors"
	"regexp"
	"strings"

	bind "github.com/duckdb/duckdb-go-bindings"

	"bordereau/governance/fault"
)

const component = "duck"

// The classes of errors that a worker reports.
const (
	classStatement = "statement" // the statement is wrong for this data
	classValue     = "value"     // a value could not be computed
	classMemory    = "memory"
	classStopped   = "stopped" // interrupted, by deadline or from outside
	classEngine    = "engine"  // anything else
	classPlan      = "plan"    // the plan isn't what was allowed
)

// classOf maps DuckDB's error type, which the API gives, to a class.
func classOf(t bind.ErrorType, message string) string {
	switch t {
	case bind.ErrorTypeInterrupt:
		return classStopped
	case bind.ErrorTypeOutOfMemory:
		return classMemory
	case bind.ErrorTypeBinder, bind.ErrorTypeCatalog, bind.ErrorTypeParser, bind.ErrorTypeSyntax, bind.ErrorTypePlanner,
		bind.ErrorTypeNotImplemented, bind.ErrorTypeParameterNotResolved, bind.ErrorTypeParameterNotAllowed, bind.ErrorTypeExpression,
		bind.ErrorTypeMissingExtension, bind.ErrorTypeAutoload, bind.ErrorTypePermission:
		return classStatement
	case bind.ErrorTypeConversion, bind.ErrorTypeOutOfRange, bind.ErrorTypeInvalidInput, bind.ErrorTypeDecimal, bind.ErrorTypeDivideByZero,
		bind.ErrorTypeMismatchType, bind.ErrorTypeInvalidType, bind.ErrorTypeObjectSize, bind.ErrorTypeSequence:
		return classValue
	}
	return classOfText(message)
}

// classOfText is the one place that reads DuckDB's messages: preparing a statement gives a message and no type.
func classOfText(message string) string {
	kind, _, _ := strings.Cut(message, " Error:")
	switch kind {
	case "Binder", "Catalog", "Parser", "Syntax", "Planner", "Not implemented", "Expression", "Missing Extension", "Permission":
		return classStatement
	case "Conversion", "Out of Range", "Invalid Input", "Decimal", "Divide by Zero", "Mismatch Type":
		return classValue
	case "Out of Memory":
		return classMemory
	case "INTERRUPT":
		return classStopped
	}
	if strings.Contains(message, "std::bad_alloc") || strings.Contains(message, "llocation failure") {
		return classMemory
	}
	return classEngine
}

// quotedValue is a value that DuckDB echoes, in either kind of quotes.
var quotedValue = regexp.MustCompile(`'[^']*'|"[^"]*"`)

// file names never leave the worker.
var pathLike = regexp.MustCompile(`(/[\w.+-]+){2,}`)

// shown is what of DuckDB's message a caller may see: the first line, without paths; without values when they are values of data.
func shown(class, message string) string {
	message, _, _ = strings.Cut(message, "\n")
	if _, rest, ok := strings.Cut(message, " Error: "); ok {
		message = rest
	}
	if class == classValue {
		message = quotedValue.ReplaceAllString(message, "'…'")
	}
	message = pathLike.ReplaceAllString(message, "…")
	if len(message) > 400 {
		message = strings.ToValidUTF8(message[:400], "") + "…"
	}
	return message
}

// faultOf turns a worker's report into the error that callers see.
func faultOf(e errorReport) *fault.Error {
	out := &fault.Error{Component: component, Message: "the database says: " + e.Message}
	switch e.Class {
	case classStatement:
		out.Code, out.Rule, out.Hint = fault.Invalid, "bind", "Check names and types against describe_data."
	case classPlan:
		out.Code, out.Rule, out.Message = fault.Denied, "plan", e.Message
		out.Hint = "Write it more plainly: name each relation in FROM."
	case classValue:
		out.Code, out.Rule, out.Hint = fault.Invalid, "value", "Use TRY_CAST, NULLIF or a condition that leaves such values out."
	case classMemory:
		out.Code, out.Rule, out.Message = fault.TooLarge, "memory", "the statement needs more memory than it may have"
		out.Hint = "Aggregate or filter before sorting and joining, and ask for fewer rows and columns."
	case classStopped:
		out.Code, out.Message, out.Retryable = fault.Interrupted, "the statement was stopped", true
	default:
		out.Code, out.Message, out.Retryable = fault.Unavailable, "the database failed", true
	}
	return out.Because(errors.New(e.Message))
}

func timeoutFault() *fault.Error {
	return &fault.Error{
		Code: fault.Timeout, Component: component, Rule: "seconds", Message: "the statement ran longer than it may",
		Hint: "Filter by date or workflow, aggregate earlier, and join on keys.",
	}
}

func unavailable(message string, cause error) *fault.Error {
	return (&fault.Error{Code: fault.Unavailable, Component: component, Message: message, Retryable: true}).Because(cause)
}
