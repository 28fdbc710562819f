package image

import _ "embed"

// pythonModule is "import gov" for code inside.
//
//go:embed gov.py
var pythonModule string
