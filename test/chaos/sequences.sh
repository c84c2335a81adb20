#!/usr/bin/env bash
# Runs COUNT sequences from seed FIRST on, a part of them on each core; their output is in .run/sequences-<seed>.log.
# usage: test/chaos/sequences.sh [FIRST [COUNT]]
set -euo pipefail
cd "$(dirname "$0")/../.."
first=${1:-1} count=${2:-2000} cores=$(nproc)
mkdir -p .run
each=$(((count + cores - 1) / cores))
declare -A parts
for ((seed = first; seed < first + count; seed += each)); do
  size=$((seed + each > first + count ? first + count - seed : each))
  SEQUENCES=$seed,$size node_modules/.bin/vitest run test/chaos/sequences.test.ts >".run/sequences-$seed.log" 2>&1 &
  parts[$seed]=$!
done
status=0
for seed in "${!parts[@]}"; do
  wait "${parts[$seed]}" || status=1
  grep -aE '×|seed [0-9]+,|^ *[0-9]+\. |Tests ' ".run/sequences-$seed.log" || tail -n 20 ".run/sequences-$seed.log"
done
exit $status
