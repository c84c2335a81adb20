#!/usr/bin/env bash
# Runs COUNT sequences from seed FIRST on, in parts of 100 on all cores; says how each part went. Output is in
# .run/sequences-<seed>.log. All parts run, also after one that failed.
# usage: test/chaos/sequences.sh [FIRST [COUNT]]
set -euo pipefail
cd "$(dirname "$0")/../.."
export first=${1:-1} count=${2:-2000}
mkdir -p .run
part() {
  local size=$(($1 + 100 > first + count ? first + count - $1 : 100)) log=.run/sequences-$1.log status=0
  SEQUENCES=$1,$size node_modules/.bin/vitest run test/chaos/sequences.test.ts >"$log" 2>&1 || status=1
  echo "seeds $1 to $(($1 + size - 1)): $(grep -aE ' Tests ' "$log" || tail -n 20 "$log")"
  [ $status = 0 ] || grep -aE '×|seed [0-9]+,|^ *[0-9]+\. ' "$log" || true
  return $status
}
export -f part
seq "$first" 100 $((first + count - 1)) | xargs -P "$(nproc)" -I{} bash -c 'part {}'
