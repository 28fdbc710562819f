#!/usr/bin/env bash
# Runs the browser tests, one file after the other. A file that fails is run once more, and said so: a real browser on a machine that others
# use too is sometimes late, and a fault is there again.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=()
for file in test/*.test.ts; do
	echo "== $file"
	node --import tsx --test --test-reporter=dot "$file" && continue
	echo "== $file once more"
	node --import tsx --test --test-reporter=spec "$file" || failed+=("$file")
done
if [ ${#failed[@]} -gt 0 ]; then
	echo "failed twice: ${failed[*]}"
	exit 1
fi
